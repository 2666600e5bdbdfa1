/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded machines as folders, out of files such as
 * tests/data/devices/dcu.tree (see tests/lib/tree.sh).  Included by one file of
 * a test.
 */
#ifndef TIDE_DEVICE_TEST_TREE_H
#define TIDE_DEVICE_TEST_TREE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Make the folders of a path. */
static void tree_folders(char *path)
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			perror(path);
		*at = '/';
	}
}

/* Content with \n for the end of a line. */
static void tree_file(const char *path, const char *content)
{
	FILE *file = fopen(path, "we");

	if (!file) {
		perror(path);
		return;
	}
	for (; *content; content++) {
		if (content[0] == '\\' && content[1] == 'n') {
			fputc('\n', file);
			content++;
		} else {
			fputc(*content, file);
		}
	}
	fputc('\n', file);
	fclose(file);
}

static void tree_line(const char *dir, char *line)
{
	char path[512], *rest = line + strcspn(line, " ");

	if (!*rest)
		return;
	*rest++ = '\0';
	snprintf(path, sizeof(path), "%s/%s", dir, line);
	tree_folders(path);
	if (strncmp(rest, "-> ", 3))
		tree_file(path, rest);
	else if (symlink(rest + 3, path) && errno != EEXIST)
		perror(path);
}

/* Put the tree of the file into the folder, which is made; -1 without a file.
 */
static int tree_make(const char *file, const char *dir)
{
	FILE *in = fopen(file, "re");
	char *line = NULL, root[256];
	size_t size = 0;

	if (!in)
		return -1;
	snprintf(root, sizeof(root), "%s/", dir);
	tree_folders(root);
	while (getline(&line, &size, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && *line != '#')
			tree_line(dir, line);
	}
	free(line);
	fclose(in);
	return 0;
}

#endif
