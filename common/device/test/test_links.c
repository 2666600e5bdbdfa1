/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links between accelerators: what Slurm makes of them, and those that KFD
 * knows.  The machines are synthetic.
 */
#include "config.h"

#include "common/device/links.h"

#include "common/device/test/tree.h"
#include "tests/lib/tap.h"

#define TREES TOP_SRCDIR "/tests/data/devices/"

enum {
	MOST = 8
};

static struct tide_accel accel[MOST];
static int row[MOST][MOST];

static void no_links(size_t count)
{
	memset(row, 0, sizeof(row));
	for (size_t i = 0; i < count; i++) {
		row[i][i] = -1;
		accel[i].link = row[i];
	}
}

/* A ring of the devices whose digits are in the text. */
static void add_ring(const char *members, int width)
{
	size_t n = strlen(members);

	for (size_t i = 0; i < n; i++) {
		int a = members[i] - '0', b = members[(i + 1) % n] - '0';

		row[a][b] = row[b][a] = width;
	}
}

/*
 * What Slurm's cons_tres takes for a job of so many on one socket: the first
 * device, then those whose link to it has the highest grade, 4 at most, the
 * lower numbers first.
 */
static const char *chosen(size_t count, size_t wanted)
{
	static char text[MOST + 1];
	bool taken[MOST] = {true};
	size_t n = 1;

	for (int grade = 4; grade >= 0; grade--)
		for (size_t i = 1; i < count && n < wanted; i++)
			if (!taken[i] && row[0][i] >= grade) {
				taken[i] = true;
				n++;
			}
	n = 0;
	for (size_t i = 0; i < count; i++)
		if (taken[i])
			text[n++] = (char)('0' + i);
	text[n] = '\0';
	return text;
}

static const struct {
	const char *name;
	const char *ring[4];
	const char *two, *four;
} boards[] = {
	{"rings of two", {"04", "15", "26", "37"}, "04", NULL},
	{"rings of four that are not neighbours",
	 {"0246", "1357"},
	 "02",
	 "0246"},
	{"a ring of four and its way round", {"0642", "1357"}, "02", "0246"},
	{"a ring of eight", {"01234567"}, "01", "0127"},
	{"a ring of eight in another order", {"02461357"}, "02", "0247"},
};

static void test_rings(void)
{
	for (size_t i = 0; i < sizeof(boards) / sizeof(*boards); i++) {
		no_links(MOST);
		for (size_t j = 0; j < 4 && boards[i].ring[j]; j++)
			add_ring(boards[i].ring[j], 1);
		tide_links_grade(accel, MOST);
		is_str(chosen(MOST, 2), boards[i].two, boards[i].name);
		if (boards[i].four)
			is_str(chosen(MOST, 4), boards[i].four, "four of them");
	}
}

static void test_grades(void)
{
	no_links(4);
	add_ring("0123", 1);
	add_ring("02", 1);
	add_ring("13", 1);
	tide_links_grade(accel, 4);
	ok(row[0][1] == 1 && row[0][2] == 1 && row[0][0] == -1,
	   "all with all: no more than was told");
	no_links(4);
	add_ring("01", 4);
	add_ring("23", 2);
	tide_links_grade(accel, 4);
	ok(row[0][1] == 4 && row[2][3] == 2 && !row[0][2],
	   "widths stay where nobody is between");
	no_links(4);
	add_ring("01", 100);
	add_ring("23", 1);
	tide_links_grade(accel, 4);
	ok(row[0][1] == 4 && row[2][3] == 1, "up to 4, and none is lost");
	no_links(6);
	add_ring("01", 2);
	add_ring("12", 1);
	add_ring("23", 1);
	add_ring("34", 1);
	tide_links_grade(accel, 6);
	ok(row[0][1] == 4 && row[1][2] == 3 && row[0][2] == 2 &&
		   row[0][3] == 1 && row[0][4] == 1 && !row[0][5],
	   "a chain: wide, narrow, one between, farther, not at all");
}

/*
 * A node of KFD at the domain (from bit 32 on) and place, and its links as
 * "TYPE:TO:WEIGHT:WIDTH ...".
 */
static void kfd_node(const char *root, int node, long place, const char *links)
{
	char line[256];
	int type, to, weight, width, used;

	snprintf(
		line, sizeof(line),
		"sys/class/kfd/kfd/topology/nodes/%d/properties simd_count %d\\n"
		"location_id %ld\\ndomain %ld\\ndrm_render_minor %d",
		node, place ? 240 : 0, place & 0xffffffff, place >> 32,
		place ? 127 + node : 0);
	tree_line(root, line);
	for (int i = 0; sscanf(links, "%d:%d:%d:%d%n", &type, &to, &weight,
			       &width, &used) == 4;
	     i++, links += used) {
		snprintf(
			line, sizeof(line),
			"sys/class/kfd/kfd/topology/nodes/%d/io_links/%d/properties type %d\\n"
			"node_from %d\\nnode_to %d\\nweight %d\\nmin_bandwidth 0\\nmax_bandwidth %d",
			node, i, type, node, to, weight, width);
		tree_line(root, line);
	}
}

static void has_links(const char *root, const char *want, const char *name)
{
	struct tide_table *table = NULL;
	struct tide_problems problems = {0};
	struct tide_accels accels = {0};
	struct tide_where where = {.root = root};
	char text[128] = "";
	struct tide_err err;

	tide_table_load(NULL, &table, &problems, &err);
	where.table = table;
	is_int(tide_find(&where, &accels, &problems, &err), 0, name);
	for (size_t i = 0; i < accels.count; i++)
		for (size_t j = 0; accels.accel[i].link && j < accels.count;
		     j++)
			snprintf(text + strlen(text),
				 sizeof(text) - strlen(text), "%s%d",
				 j   ? ","
				 : i ? " "
				     : "",
				 accels.accel[i].link[j]);
	is_str(text, want, "links");
	is_int((int64_t)problems.count, 0, "nothing is wrong");
	tide_accels_release(&accels);
	tide_problems_release(&problems);
	tide_table_destroy(table);
}

/* The four DCUs at 33, 36, a3 and a6 are KFD's nodes 1 to 4. */
static void test_kfd(const char *folder)
{
	char root[128];

	snprintf(root, sizeof(root), "%s/dcu", folder);
	tree_make(TREES "dcu.tree", root);
	kfd_node(root, 0, 0, "2:1:20:0 2:2:20:0");
	kfd_node(root, 1, 0x3300, "2:0:20:0 11:3:15:50000");
	kfd_node(root, 2, 0x3600, "2:0:20:0 11:4:15:100000");
	kfd_node(root, 3, 0xa300, "11:1:15:50000");
	kfd_node(root, 4, 0xa600, "11:2:15:100000 2:1:15:32000");
	kfd_node(root, 5, 1L << 32 | 0x3300, "11:2:15:50000");
	has_links(root, "-1,0,1,0 0,-1,0,2 1,0,-1,0 0,2,0,-1",
		  "direct links, as wide as they are; PCI is none");
	kfd_node(root, 1, 0x3300, "11:2:15:0 11:4:15:0 11:3:30:0");
	kfd_node(root, 2, 0x3600, "11:1:15:0 11:3:15:0 11:4:30:0");
	kfd_node(root, 3, 0xa300, "11:2:15:0 11:4:15:0 11:1:30:0");
	kfd_node(root, 4, 0xa600, "11:3:15:0 11:1:15:0 11:2:30:0");
	has_links(root, "-1,4,2,4 4,-1,4,2 2,4,-1,4 4,2,4,-1",
		  "a ring of an older driver, without widths");
	snprintf(root, sizeof(root), "%s/odd", folder);
	tree_make(TREES "dcu.tree", root);
	kfd_node(root, 1, 0x3300, "11:77777:15:0 11:-1:15:0 11:2000:15:0");
	kfd_node(root, 2, 0x3600, "11:2:15:0 11:0:15:0");
	has_links(root, "", "links to nobody are none");
}

int main(void)
{
	char folder[] = "/tmp/tide-links.XXXXXX";

	if (!mkdtemp(folder))
		return 1;
	test_rings();
	test_grades();
	test_kfd(folder);
	tap_remove(folder);
	return tap_done();
}
