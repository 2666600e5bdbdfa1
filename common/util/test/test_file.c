/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole small files, read and replaced. */
#include "config.h"

#include "common/util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/tap.h"

int main(void)
{
	char folder[] = "/tmp/tide-file-XXXXXX", path[64], beside[64];
	struct tide_err err;
	struct stat st, other;
	char *text;
	int fd;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/x", folder);
	snprintf(beside, sizeof(beside), "%s/x.new", folder);

	ok(tide_file_read(path, &text, &err) == -1 && errno == ENOENT,
	   "read: no such file");
	ok(strstr(err.text, path) != NULL, "... names it");
	ok(tide_file_read(folder, &text, &err) == -1 && errno == EISDIR,
	   "read: a folder");
	ok(tide_file_plain(path, &err) == -1 && errno == ENOENT,
	   "plain: no such file");
	ok(tide_file_plain(folder, &err) == -1 && errno == EISDIR,
	   "plain: a folder is not");
	is_int(tide_file_replace(path, "one\n", &err), 0, "replace: a new file");
	is_int(tide_file_plain(path, &err), 0, "plain: it is");
	is_int(tide_file_read(path, &text, &err), 0, "read: it is there");
	is_str(text, "one\n", "read: as written");
	free(text);
	is_int(tide_file_replace(path, "", &err), 0, "replace: by nothing");
	is_int(tide_file_read(path, &text, &err), 0, "read: an empty file");
	is_str(text, "", "read: empty");
	free(text);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ok(fd >= 0 && write(fd, "a\0b\n", 4) == 4 && !close(fd) &&
		   tide_file_read(path, &text, &err) == -1 && errno == EINVAL,
	   "read: a zero byte is refused, not taken for the end");
	unlink(path);
	ok(!mkfifo(path, 0600) && tide_file_read(path, &text, &err) == -1,
	   "read: a pipe is not waited for");
	ok(tide_file_plain(path, &err) == -1 && errno == EINVAL &&
		   strstr(err.text, path),
	   "plain: a pipe is not: %s", err.text);
	unlink(path);
	is_int(tide_file_replace(path, "", &err), 0, "replace: again");
	ok(!stat(path, &st) && (st.st_mode & 07777) == 0600,
	   "replace: nobody else reads it");
	ok(stat(beside, &st) == -1, "replace: nothing is left beside it");
	snprintf(path, sizeof(path), "%s/none/x", folder);
	ok(tide_file_replace(path, "x", &err) == -1 && errno == ENOENT,
	   "replace: no such folder");
	snprintf(path, sizeof(path), "%s/x", folder);
	unlink(path);
	ok(!symlink("/dev/null", path) && !stat(path, &st) &&
		   !stat("/dev/null", &other) && !tide_file_cmp(&st, &other),
	   "cmp: a link to a device is that device");
	other.st_ino++;
	is_int(tide_file_cmp(&st, &other), 0, "cmp: so is another file of it");
	other.st_rdev++;
	is_int(tide_file_cmp(&st, &other), -1, "cmp: not of another number");
	ok(!stat(folder, &other) &&
		   tide_file_cmp(&st, &other) == -tide_file_cmp(&other, &st),
	   "cmp: a folder is something else");
	st = other;
	is_int(tide_file_cmp(&st, &other), 0, "cmp: a file is itself");
	st.st_ino++;
	is_int(tide_file_cmp(&st, &other), 1, "cmp: and no other");
	unlink(path);
	rmdir(folder);
	return tap_done();
}
