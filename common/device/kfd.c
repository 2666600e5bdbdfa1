/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links that KFD knows: see kfd.h. */
#include "config.h"

#include "common/device/kfd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/parse.h"

enum {
	XGMI = 11,    /* type of a link; PCI is 2 */
	ONE_HOP = 15, /* weight of an XGMI link: so much for each hop */
	MAX_NODES = 1024,
};

struct kfd {
	const struct tide_root *root;
	const struct tide_accel *accel;
	size_t count;
	int place[MAX_NODES]; /* of KFD's node among the accelerators; -1 */
};

long tide_kfd_property(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, key, len) && text[len] == ' ')
			return strtol(text + len, NULL, 10);
	}
	return -1;
}

/* Which accelerator a node is; -1: a processor, or of others. */
static int place_of(const struct kfd *kfd, const char *text)
{
	long at = tide_kfd_property(text, "location_id");
	long domain = tide_kfd_property(text, "domain");
	long render = tide_kfd_property(text, "drm_render_minor");

	if (tide_kfd_property(text, "simd_count") <= 0)
		return -1;
	for (size_t i = 0; i < kfd->count; i++) {
		const struct tide_accel *accel = &kfd->accel[i];
		const struct tide_pci *pci = &accel->pci;

		if (at == (pci->bus << 8 | pci->dev << 3 | pci->fn) &&
		    (domain < 0 || domain == (long)pci->domain) &&
		    (!accel->sub || accel->render == render))
			return (int)i;
	}
	return -1;
}

static char *read_file(const struct kfd *kfd, int node, const char *link)
{
	char path[256], *text = NULL;

	snprintf(path, sizeof(path), "%s/%d%s%.32s/properties", TIDE_KFD_FOLDER,
		 node, link ? "/io_links/" : "", link ? link : "");
	return tide_root_read(kfd->root, path, &text, NULL) ? NULL : text;
}

/* The links of one node. */
static void read_links(const struct kfd *kfd, int node, uint64_t *link)
{
	char path[128], **names = NULL, *text;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%d/io_links", TIDE_KFD_FOLDER, node);
	if (tide_root_list(kfd->root, path, &names, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		long to, width;

		text = read_file(kfd, node, names[i]);
		free(names[i]);
		to = text ? tide_kfd_property(text, "node_to") : -1;
		if (to >= 0 && to < MAX_NODES && kfd->place[to] >= 0 &&
		    tide_kfd_property(text, "type") == XGMI &&
		    tide_kfd_property(text, "weight") <= ONE_HOP) {
			width = tide_kfd_property(text, "max_bandwidth");
			link[kfd->place[to]] = width > 0 ? (uint64_t)width : 1;
		}
		free(text);
	}
	free(names);
}

bool tide_kfd_links(const struct tide_root *root,
		    const struct tide_accel *accel, size_t count,
		    uint64_t *link)
{
	struct kfd kfd = {.root = root, .accel = accel, .count = count};
	char **names = NULL, *text;
	size_t n = 0;
	int64_t node;
	bool any = false;

	memset(link, 0, count * count * sizeof(*link));
	memset(kfd.place, -1, sizeof(kfd.place));
	if (tide_root_list(root, TIDE_KFD_FOLDER, &names, &n, NULL))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!tide_parse_int(names[i], 0, MAX_NODES - 1, &node, NULL) &&
		    (text = read_file(&kfd, (int)node, NULL))) {
			kfd.place[node] = place_of(&kfd, text);
			free(text);
		}
		free(names[i]);
	}
	free(names);
	for (int i = 0; i < MAX_NODES; i++)
		if (kfd.place[i] >= 0)
			read_links(&kfd, i, &link[kfd.place[i] * count]);
	for (size_t i = 0; i < count; i++)
		link[i * count + i] = 0;
	for (size_t i = 0; i < count * count; i++)
		any |= link[i] > 0;
	return any;
}
