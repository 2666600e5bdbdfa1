/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checkpoint files: what is read is what was written, any flipped bit and any
 * cut is seen, a full disk leaves nothing behind; folders: newest, pruning,
 * whose they are.
 */
#include "config.h"

#include "launcher/checkpoint/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/tensor/random.h"
#include "tests/lib/tap.h"

enum {
	BIG = 300 * 40,
	SMALL = 17
};

static float big[BIG], small[SMALL], moment[BIG];
static float big2[BIG], small2[SMALL], moment2[BIG];
static char dir[] = "/tmp/tide-checkpoint-XXXXXX";
static struct tide_folder folder;

static const struct tide_ckpt_tensor saved[] = {
	{"parameter", "block0.big", 2, {300, 40}, big},
	{"parameter", "small", 1, {SMALL, 1}, small},
	{"adam_m", "block0.big", 2, {300, 40}, moment},
};
static const struct tide_ckpt_tensor loaded[] = {
	{"parameter", "block0.big", 2, {300, 40}, big2},
	{"parameter", "small", 1, {SMALL, 1}, small2},
	{"adam_m", "block0.big", 2, {300, 40}, moment2},
};

static struct tide_ckpt_meta meta_of(int64_t step)
{
	struct tide_ckpt_meta m = {
		.step = step,
		.samples = step * 32,
		.global_batch = 32,
		.seed = UINT64_MAX,
		.shape = {2, 64, 4, 128, 256, true},
		.data_print = "0123456789abcdef",
	};

	return m;
}

static int save(int64_t step, struct tide_err *err)
{
	struct tide_ckpt_meta m = meta_of(step);

	return tide_ckpt_write(folder.fd, &m, saved, 3, err);
}

static void open_folder(void)
{
	struct tide_err err;

	if (tide_folder_open(&folder, dir, &err)) {
		diag("%s", err.text);
		exit(1);
	}
}

static off_t size_of(const char *name)
{
	struct stat st;

	return fstatat(folder.fd, name, &st, 0) ? -1 : st.st_size;
}

/* Not memcmp: there are unused bytes behind the last member. */
static bool same_shape(const struct tide_shape *a, const struct tide_shape *b)
{
	return a->layers == b->layers && a->width == b->width &&
	       a->heads == b->heads && a->context == b->context &&
	       a->vocabulary == b->vocabulary && a->tied == b->tied;
}

static void test_round_trip(void)
{
	struct tide_ckpt_meta want = meta_of(120), got;
	struct tide_ckpt_tensor wrong = loaded[0];
	struct tide_err err = {""};
	char name[TIDE_CKPT_NAME];

	tide_ckpt_name(name, 120);
	is_str(name, "step-0000000120.h5", "name");
	ok(!save(120, &err), "written %s", err.text);
	ok(!tide_ckpt_verify(folder.fd, name, &err), "verified");
	memset(&got, 0, sizeof(got));
	ok(!tide_ckpt_read_meta(folder.fd, name, &got, &err), "meta is read");
	ok(got.step == want.step && got.samples == want.samples &&
		   got.global_batch == want.global_batch &&
		   got.seed == want.seed &&
		   same_shape(&got.shape, &want.shape) &&
		   !strcmp(got.data_print, want.data_print),
	   "meta is what was written");
	ok(!tide_ckpt_read(folder.fd, name, loaded, 3, &err), "tensors");
	ok(!memcmp(big, big2, sizeof(big)) &&
		   !memcmp(small, small2, sizeof(small)) &&
		   !memcmp(moment, moment2, sizeof(moment)),
	   "tensors are what was written, bit by bit");
	wrong.shape[0] = 299;
	ok(tide_ckpt_read(folder.fd, name, &wrong, 1, &err) == -1 &&
		   errno == EINVAL,
	   "another shape: %s", err.text);
	wrong.name = "other";
	ok(tide_ckpt_read(folder.fd, name, &wrong, 1, &err) == -1 &&
		   errno == EINVAL,
	   "no such tensor: %s", err.text);
	ok(tide_ckpt_read_meta(folder.fd, "none.h5", &got, &err) == -1,
	   "no such file");
	ok(tide_ckpt_verify(folder.fd, "none.h5", &err) == -1 &&
		   errno == ENOENT,
	   "%s", err.text);
}

/* Flip the bit, verify, and flip it back. */
static int flip_is_seen(const char *name, uint64_t bit)
{
	int fd = openat(folder.fd, name, O_RDWR);
	unsigned char byte;
	struct tide_err err;
	int rc, error;

	if (fd < 0 || pread(fd, &byte, 1, bit / 8) != 1)
		exit(1);
	byte ^= 1 << bit % 8;
	if (pwrite(fd, &byte, 1, bit / 8) != 1)
		exit(1);
	rc = tide_ckpt_verify(folder.fd, name, &err);
	error = errno;
	byte ^= 1 << bit % 8;
	if (pwrite(fd, &byte, 1, bit / 8) != 1)
		exit(1);
	close(fd);
	return rc == -1 && error == EBADMSG && strstr(err.text, name);
}

static int cut_is_seen(off_t at)
{
	const char *name = "step-0000000121.h5";
	struct tide_err err;
	int fd;

	if (save(121, &err))
		exit(1);
	fd = openat(folder.fd, name, O_RDWR);
	if (fd < 0 || ftruncate(fd, at))
		exit(1);
	close(fd);
	return tide_ckpt_verify(folder.fd, name, &err) == -1 &&
	       errno == EBADMSG;
}

static void test_damage(void)
{
	const char *name = "step-0000000120.h5";
	off_t size = size_of(name);
	int random = 0, tail = 0, cuts = 0;
	struct tide_err err;

	for (int i = 0; i < 100; i++)
		random += flip_is_seen(name, tide_mix(9, i) % (8 * size));
	is_int(random, 100, "100 random bit flips, each refused by name");
	for (int i = 0; i < 81 * 8; i++)
		tail += flip_is_seen(name, 8 * size - 1 - i);
	is_int(tail, 81 * 8, "every bit of the digest's line, too");
	ok(!tide_ckpt_verify(folder.fd, name, &err), "unharmed it is good");
	for (int i = 0; i < 20; i++)
		cuts += cut_is_seen(i ? tide_mix(4, i) % size : 0);
	is_int(cuts, 20, "cut anywhere it is refused");
	unlinkat(folder.fd, "step-0000000121.h5", 0);
}

static int count_files(const char *part)
{
	char command[256];
	int n = -1;
	FILE *out;

	snprintf(command, sizeof(command), "ls -a %s | grep -c '%s'", dir,
		 part);
	out = popen(command, "r");
	if (!out || fscanf(out, "%d", &n) != 1)
		n = -1;
	if (out)
		pclose(out);
	return n;
}

/* A limit on the size of files stands for a full disk, at many sizes. */
static void test_no_room(void)
{
	off_t size = size_of("step-0000000120.h5");
	struct rlimit old, limit;
	int refused = 0;
	struct tide_err err;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	for (int i = 0; i < 10; i++) {
		limit = old;
		limit.rlim_cur = size * (i + 1) / 10 - 1;
		setrlimit(RLIMIT_FSIZE, &limit);
		refused += save(122, &err) == -1 && errno == EFBIG;
		setrlimit(RLIMIT_FSIZE, &old);
	}
	is_int(refused, 10, "no room: refused");
	ok(!!strstr(err.text, "step-0000000122.h5"), "%s", err.text);
	is_int(count_files("tmp"), 0, "nothing of it is left");
	is_int(size_of("step-0000000122.h5"), -1, "nor under its name");
	ok(!tide_ckpt_verify(folder.fd, "step-0000000120.h5", &err),
	   "the last good one stays");
	ok(!save(122, &err), "with room again it works");
}

static int reports;
static char reported[512];

static void report(void *arg, const char *text)
{
	reports++;
	snprintf(reported, sizeof(reported), "%s", text);
}

static void damage(const char *name)
{
	int fd = openat(folder.fd, name, O_WRONLY);

	if (fd < 0 || pwrite(fd, "\0\1\2", 3, 5000) != 3)
		exit(1);
	close(fd);
}

static void test_newest(void)
{
	char name[TIDE_CKPT_NAME] = "";
	struct tide_err err;

	save(9999999999, &err);
	save(10000000000, &err);
	is_int(tide_folder_newest(&folder, name, report, NULL, &err), 0,
	       "newest");
	is_str(name, "step-10000000000.h5", "by number, not by letter");
	damage(name);
	is_int(tide_folder_newest(&folder, name, report, NULL, &err), 0,
	       "the one before");
	is_str(name, "step-9999999999.h5", "is used");
	is_int(reports, 1, "one is passed over");
	ok(!!strstr(reported, "step-10000000000.h5"), "by name: %s", reported);
	is_int(count_files("h5.bad"), 1, "and set aside");
	is_int(tide_folder_newest(&folder, name, report, NULL, &err), 0,
	       "again");
	is_int(reports, 1, "it is not looked at again");
	ok(!tide_folder_prune(&folder, 2, &err), "prune to two");
	is_int(count_files("h5$"), 2, "two are left");
	is_int(tide_folder_newest(&folder, name, report, NULL, &err), 0,
	       "newest");
	is_str(name, "step-9999999999.h5", "is kept");
	is_int(tide_folder_peek(&folder, name, &err), 0, "peek");
	is_str(name, "step-9999999999.h5", "the same");
	damage("step-9999999999.h5");
	is_int(tide_folder_peek(&folder, name, &err), 0, "a damaged one");
	is_str(name, "step-0000000122.h5", "is passed over");
	is_int(count_files("h5.bad"), 1, "and left where it is");
	damage("step-0000000122.h5");
	is_int(tide_folder_newest(&folder, name, report, NULL, &err), -1,
	       "all damaged");
	is_int(errno, ENODATA, "ENODATA");
	is_int(tide_folder_newest(&folder, name, report, NULL, &err), -1,
	       "and stays so");
	ok(!!strstr(err.text, "3 damaged"), "%s", err.text);
}

static int claim_in_child(const struct tide_claim *claim, char *text)
{
	int out[2], status;
	pid_t pid;

	if (pipe(out))
		exit(1);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct tide_folder f;
		struct tide_err err = {""};
		int rc = tide_folder_open(&f, dir, &err);

		if (!rc)
			rc = tide_folder_claim(&f, claim, &err);
		if (write(out[1], err.text, sizeof(err.text)) < 0)
			_exit(99);
		_exit(rc ? errno : 0);
	}
	close(out[1]);
	if (read(out[0], text, sizeof(((struct tide_err *)0)->text)) < 0)
		text[0] = '\0';
	close(out[0]);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

/* Files with a right digest that make no sense, and what is no file. */
static void test_nonsense(void)
{
	struct tide_ckpt_meta m = meta_of(9), got;
	struct tide_err err;
	char target[160];
	int fd;

	m.samples++;
	is_int(tide_ckpt_write(folder.fd, &m, saved, 3, &err), 0, "written");
	is_int(tide_ckpt_verify(folder.fd, "step-0000000009.h5", &err), 0,
	       "its digest is right");
	is_int(tide_ckpt_read_meta(folder.fd, "step-0000000009.h5", &got, &err),
	       -1, "samples that are not step x global batch");
	ok(!!strstr(err.text, "samples 289"), "%s", err.text);
	m = meta_of(9);
	m.global_batch = m.samples = 0;
	tide_ckpt_write(folder.fd, &m, saved, 3, &err);
	is_int(tide_ckpt_read_meta(folder.fd, "step-0000000009.h5", &got, &err),
	       -1, "no global batch");
	save(9, &err);
	renameat(folder.fd, "step-0000000009.h5", folder.fd,
		 "step-0000000099.h5");
	is_int(tide_ckpt_read_meta(folder.fd, "step-0000000099.h5", &got, &err),
	       -1, "the name of another step");
	ok(!!strstr(err.text, "its name 'step-0000000009.h5'"), "%s", err.text);
	unlinkat(folder.fd, "step-0000000099.h5", 0);
	mkfifoat(folder.fd, "step-0000000099.h5", 0600);
	is_int(tide_ckpt_verify(folder.fd, "step-0000000099.h5", &err), -1,
	       "a FIFO is not waited for");
	is_int(tide_ckpt_read_meta(folder.fd, "step-0000000099.h5", &got, &err),
	       -1, "nor read");
	unlinkat(folder.fd, "step-0000000099.h5", 0);
	snprintf(target, sizeof(target), "%s/precious", dir);
	fd = openat(folder.fd, "precious", O_CREAT | O_RDWR, 0600);
	symlinkat(target, folder.fd, "step-0000000009.h5.tmp");
	is_int(save(9, &err), 0, "a link where the temporary file goes");
	is_int(lseek(fd, 0, SEEK_END), 0, "is not followed");
	close(fd);
	unlinkat(folder.fd, "precious", 0);
	unlinkat(folder.fd, "step-0000000009.h5", 0);
}

/* An attribute with more values than there is room for. */
static void test_many_values(void)
{
	static const long long values[512];
	const hsize_t n = 512;
	struct tide_ckpt_meta got;
	struct tide_err err;
	char path[160];
	hid_t file, space, attr;

	save(9, &err);
	snprintf(path, sizeof(path), "%s/step-0000000009.h5", dir);
	file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	H5Adelete(file, "step");
	space = H5Screate_simple(1, &n, NULL);
	attr = H5Acreate2(file, "step", H5T_STD_I64LE, space, H5P_DEFAULT,
			  H5P_DEFAULT);
	H5Awrite(attr, H5T_NATIVE_LLONG, values);
	H5Aclose(attr);
	H5Sclose(space);
	H5Fclose(file);
	is_int(tide_ckpt_read_meta(folder.fd, "step-0000000009.h5", &got, &err),
	       -1, "512 steps in one");
	ok(!!strstr(err.text, "attribute 'step'"), "%s", err.text);
	unlink(path);
}

static void test_claims(void)
{
	struct tide_claim claim = {"job", "model a", "job 7 run 0 on x", NULL,
				   0};
	struct tide_claim same = {"job", "model a", "job 7 run 1 on y",
				  "job 7 run ", 1};
	struct tide_claim thief = {"thief", "model a", "job 8", NULL, 0};
	struct tide_claim model = {"job", "model b", "job 8", NULL, 0};
	char text[sizeof(((struct tide_err *)0)->text)];
	int fd = openat(folder.fd, "step-0000000001.h5.tmp", O_CREAT | O_RDWR,
			0600);

	close(fd);
	ok(!tide_folder_claim(&folder, &claim, NULL), "claimed");
	is_int(count_files("tmp"), 0, "what a killed save left is removed");
	is_int(claim_in_child(&thief, text), EBUSY, "in use by another");
	ok(!!strstr(text, "in use by job 7 run 0 on x"), "%s", text);
	is_int(claim_in_child(&same, text), EBUSY,
	       "the same job waits, and not for ever");
	close(folder.owner_fd);
	folder.owner_fd = -1;
	is_int(claim_in_child(&thief, text), EPERM, "another job name");
	ok(!!strstr(text, "job name 'job', this is 'thief'"), "%s", text);
	is_int(claim_in_child(&model, text), EPERM, "another model");
	ok(!!strstr(text, "'model a', this is 'model b'"), "%s", text);
	is_int(claim_in_child(&same, text), 0, "the same job again");
}

int main(void)
{
	char command[128];

	for (int i = 0; i < BIG; i++) {
		big[i] = tide_normal(1, i);
		moment[i] = tide_normal(2, i);
		small[i % SMALL] = tide_normal(3, i);
	}
	if (!mkdtemp(dir))
		return 1;
	open_folder();
	test_round_trip();
	test_damage();
	test_no_room();
	test_nonsense();
	test_many_values();
	test_newest();
	test_claims();
	tide_folder_close(&folder);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		return 1;
	return tap_done();
}
