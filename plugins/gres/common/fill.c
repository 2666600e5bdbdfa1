/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records without File=, filled in, and those with one, compared: see fill.h.
 * Looks at no device itself.
 */
#include "plugins/gres/common/fill.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/common/bitstring.h"
#include "src/common/hostlist.h"
#include "src/common/list.h"

#include "common/conf/lines.h"

enum {
	LIMIT_MS = 15000,	 /* for the program */
	LIMIT_COMPARE_MS = 5000, /* when nothing is to be filled in */
	GRACE_MS = 1000,	 /* after the limit, to die in */
	MAX_OUTPUT = 1 << 20,
};

#define PART "# part: Device="

/* What the program is to do. */
struct task {
	const char *name;  /* of the GRES */
	const char *lines; /* of gres.conf, as Slurm has read them */
	bool fill;	   /* or only compare */
};

/* A line that the program printed. */
struct found {
	char *type, *file, *cores, *links;
	bool multiple;
	bool part; /* of a device */
	uint64_t count;
};

/* tidectl in the folder of this plugin, else where it is installed. */
static char *program(void)
{
	char *path = NULL, *slash;
	Dl_info info;

	if (dladdr((void *)program, &info) && info.dli_fname) {
		path = xstrdup(info.dli_fname);
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
		xstrcat(path, "/tidectl");
		if (!access(path, X_OK))
			return path;
		xfree(path);
	}
	return xstrdup(TIDE_BINDIR "/tidectl");
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* All that comes until the end or the limit; NULL at the limit. */
static char *read_output(int fd, int64_t until)
{
	char *text = xstrdup(""), part[4096];
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	while (strlen(text) < MAX_OUTPUT) {
		int64_t left = until - now_ms();
		ssize_t got;

		if (left <= 0)
			break;
		/* a signal is no answer: read() would wait for ever */
		if (poll(&poll_fd, 1, (int)left) <= 0)
			continue;
		got = read(fd, part, sizeof(part) - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return text;
		part[got] = '\0';
		xstrcat(text, part);
	}
	xfree(text);
	return NULL;
}

/*
 * Wait for the program, which is killed at the limit. One that cannot be, in
 * the middle of a driver, is left behind.
 */
static int reap(pid_t pid, int64_t until)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	bool killed = false;
	int status = 0;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (now_ms() >= until) {
			if (killed)
				return -1;
			kill(pid, SIGKILL);
			killed = true;
			until = now_ms() + GRACE_MS;
		}
		nanosleep(&pause, NULL);
	}
	return status;
}

/* The lines as a file to read from; -1 with errno. */
static int lines_file(const char *lines)
{
	int fd = memfd_create("gres.conf", MFD_CLOEXEC);
	size_t len = strlen(lines);

	if (fd >= 0 &&
	    (write(fd, lines, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))) {
		close(fd);
		errno = EIO;
		return -1;
	}
	return fd;
}

static int start(char *path, const struct task *task, int out, pid_t *ret_pid)
{
	char *argv[] = {path,
			(char *)"devices",
			(char *)"--gres",
			(char *)task->name,
			(char *)"--gres-conf",
			(char *)"--compare",
			(char *)"-",
			NULL};
	int in = lines_file(task->lines);
	posix_spawn_file_actions_t actions;
	int rc;

	if (in < 0)
		return errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	rc = posix_spawn(ret_pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(in);
	return rc;
}

/* Nobody is harmed when gres.conf is only not compared. */
static void complain(const struct task *task, const char *why)
{
	if (task->fill)
		error("cannot look for gres/%s: %s", task->name, why);
	else
		info("gres/%s: gres.conf is not compared with the devices: %s",
		     task->name, why);
}

/* What the program prints; NULL when it cannot be had, and why. */
static char *run(const struct task *task, char **ret_why)
{
	int limit = task->fill ? LIMIT_MS : LIMIT_COMPARE_MS;
	char *path = program(), *text = NULL;
	int64_t until = now_ms() + limit;
	int fds[2], rc, status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC)) {
		*ret_why = xstrdup(strerror(errno));
		xfree(path);
		return NULL;
	}
	rc = start(path, task, fds[1], &pid);
	close(fds[1]);
	if (rc) {
		*ret_why =
			xstrdup_printf("cannot run %s: %s", path, strerror(rc));
	} else {
		text = read_output(fds[0], until);
		status = reap(pid, text ? until : 0);
		if (!text) {
			*ret_why = xstrdup_printf("%s gave no answer in %d s",
						  path, limit / 1000);
		} else if (status) {
			*ret_why = xstrdup_printf("%s failed: %s", path, text);
			xfree(text);
		}
	}
	close(fds[0]);
	xfree(path);
	return text;
}

static void free_found(void *x)
{
	struct found *found = x;

	xfree(found->type);
	xfree(found->file);
	xfree(found->cores);
	xfree(found->links);
	xfree(found);
}

static uint64_t count_files(const char *file)
{
	tide_hostlist files = hostlist_create(file);
	uint64_t count = files ? (uint64_t)hostlist_count(files) : 0;

	if (files)
		hostlist_destroy(files);
	return count;
}

/* One line; NULL when it names no file. */
static struct found *read_line(char *line)
{
	struct found *found = xmalloc(sizeof(*found));
	char *key, *value;

	while (tide_pair_next(&line, &key, &value) > 0) {
		if (!xstrcasecmp(key, "Type"))
			found->type = xstrdup(value);
		else if (!xstrcasecmp(key, "Cores"))
			found->cores = xstrdup(value);
		else if (!xstrcasecmp(key, "Links"))
			found->links = xstrdup(value);
		else if (!xstrcasecmp(key, "File") ||
			 !xstrcasecmp(key, "MultipleFiles")) {
			found->file = xstrdup(value);
			found->multiple = xstrcasecmp(key, "File");
		}
	}
	if (found->file)
		found->count = found->multiple ? 1 : count_files(found->file);
	if (found->count)
		return found;
	free_found(found);
	return NULL;
}

static int has_type(void *x, void *key)
{
	return !xstrcasecmp(x, key);
}

/* "# part: Device=npu:vir04 Of=...": the type is one of parts. */
static void read_part(list_t *parts, const char *line)
{
	const char *type = xstrchr(line, ':');
	size_t len = type ? strcspn(type + 1, " ") : 0;

	if (len)
		list_append(parts, xstrndup(type + 1, len));
}

/* The lines; what the program complained about is logged. NULL: no answer. */
static list_t *look(const struct task *task)
{
	char *why = NULL, *text = run(task, &why), *line, *rest = NULL;
	const char *name = task->name;
	list_t *list = text ? list_create(free_found) : NULL;
	list_t *parts = list_create(xfree_ptr);
	struct found *found;

	if (!text)
		complain(task, why);
	xfree(why);
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (!xstrncmp(line, "tidectl: ", 9))
			error("gres/%s: %s", name, line + 9);
		else if (!xstrncmp(line, "#missing: ", 10))
			error("gres/%s: not used: %s", name, line + 10);
		else if (!xstrncmp(line, PART, strlen(PART)))
			read_part(parts, line + strlen(PART));
		else if (*line != '#' && (found = read_line(line))) {
			found->part =
				list_find_first(parts, has_type, found->type);
			list_append(list, found);
		}
	}
	FREE_NULL_LIST(parts);
	xfree(text);
	return list;
}

/* The last core of a list such as 0-15,32-47. */
static uint32_t last_core(const char *cores)
{
	const char *at = cores + strlen(cores);

	while (at > cores && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return (uint32_t)strtoul(at, NULL, 10);
}

/*
 * Take as many of the line's files as there are, at most, and leave the others
 * to it.
 */
static struct found *take_files(struct found *found, uint64_t most)
{
	struct found *taken = xmalloc(sizeof(*taken));
	tide_hostlist rest = hostlist_create(found->file), files;
	char *path;

	files = hostlist_create(NULL);
	while (taken->count < most && (path = hostlist_shift(rest))) {
		hostlist_push_host(files, path);
		free(path);
		taken->count++;
	}
	taken->type = xstrdup(found->type);
	taken->cores = xstrdup(found->cores);
	taken->file = hostlist_ranged_string_xmalloc(files);
	found->count -= taken->count;
	xfree(found->file);
	found->file = hostlist_ranged_string_xmalloc(rest);
	hostlist_destroy(files);
	hostlist_destroy(rest);
	return taken;
}

/*
 * Which CPUs of the machine the cores are, as Slurm keeps it for lines by hand.
 * The function is slurmd's own; where it is not there, nothing is bound by it.
 */
static bitstr_t *cpus_of(const char *cores, uint32_t cpu_cnt)
{
	int (*to_machine)(char *cores, char **ret_cpus);
	void *address = dlsym(RTLD_DEFAULT, "xcpuinfo_abs_to_mac");
	bitstr_t *bits = NULL;
	char *cpus = NULL;

	memcpy(&to_machine, &address, sizeof(address));
	if (!to_machine || to_machine((char *)cores, &cpus) || !cpus)
		return NULL;
	bits = bit_alloc(cpu_cnt);
	if (bit_unfmt(bits, cpus))
		FREE_NULL_BITMAP(bits);
	xfree(cpus);
	return bits;
}

static gres_slurmd_conf_t *make(const gres_slurmd_conf_t *record,
				const struct found *found, uint32_t cpu_cnt)
{
	gres_slurmd_conf_t *new = xmalloc(sizeof(*new));

	new->config_flags = record->config_flags | GRES_CONF_HAS_FILE;
	if (found->multiple)
		new->config_flags |= GRES_CONF_HAS_MULT;
	new->type_name =
		xstrdup(record->type_name ? record->type_name : found->type);
	if (new->type_name)
		new->config_flags |= GRES_CONF_HAS_TYPE;
	new->count = found->count;
	new->cpu_cnt = cpu_cnt;
	new->file = xstrdup(found->file);
	new->links = xstrdup(found->links);
	new->name = xstrdup(record->name);
	new->plugin_id = record->plugin_id;
	if (found->cores && last_core(found->cores) < cpu_cnt) {
		new->cpus = xstrdup(found->cores);
		new->cpus_bitmap = cpus_of(found->cores, cpu_cnt);
	} else if (found->cores)
		error("gres/%s: Cores=%s of %s are not used: slurm.conf gives this node %u CPUs",
		      record->name, found->cores, found->file, cpu_cnt);
	return new;
}

/* A type stands for what has it in its name; that of a part for it alone. */
static bool fits(const gres_slurmd_conf_t *record, const struct found *found,
		 bool exactly)
{
	if (!record->type_name)
		return true;
	return exactly || found->part
		       ? !xstrcasecmp(found->type, record->type_name)
		       : !!xstrcasestr(found->type, record->type_name);
}

/* Take what fits the record off the list, and put it into records. */
static uint64_t take(list_t *records, const gres_slurmd_conf_t *record,
		     uint64_t limit, list_t *list, uint32_t cpu_cnt,
		     bool exactly)
{
	list_itr_t *itr = list_iterator_create(list);
	struct found *found;
	uint64_t count = 0;

	while (count < limit && (found = list_next(itr))) {
		if (!fits(record, found, exactly))
			continue;
		if (found->count > limit - count) {
			struct found *some = take_files(found, limit - count);

			list_append(records, make(record, some, cpu_cnt));
			count += some->count;
			free_found(some);
			break;
		}
		list_append(records, make(record, found, cpu_cnt));
		count += found->count;
		list_delete_item(itr);
	}
	list_iterator_destroy(itr);
	return count;
}

static char *types_of(list_t *list)
{
	list_itr_t *itr = list_iterator_create(list);
	struct found *found;
	char *text = NULL;

	while ((found = list_next(itr)))
		xstrfmtcat(text, "%s%s:%llu", text ? "," : "", found->type,
			   (unsigned long long)found->count);
	list_iterator_destroy(itr);
	return text;
}

static void fill_record(list_t *records, const gres_slurmd_conf_t *record,
			list_t *list, uint32_t cpu_cnt)
{
	uint64_t count =
		take(records, record, record->count, list, cpu_cnt, true);
	char *others;

	if (count < record->count)
		count += take(records, record, record->count - count, list,
			      cpu_cnt, false);

	if (count >= record->count)
		return;
	others = types_of(list);
	error("gres/%s: slurm.conf has %llu of type '%s' on this node, found are %llu, and of others %s: mend Gres= of the node, or the device (tidectl devices)",
	      record->name, (unsigned long long)record->count,
	      record->type_name ? record->type_name : "any",
	      (unsigned long long)count, others ? others : "none");
	xfree(others);
}

/*
 * Slurm wants links to as many devices as it counts: with fewer or more of them
 * there are none.
 */
static void check_links(list_t *list, uint64_t wanted)
{
	list_itr_t *itr = list_iterator_create(list);
	struct found *found;
	uint64_t count = 0;

	while ((found = list_next(itr)))
		count += found->count;
	list_iterator_reset(itr);
	while (count != wanted && (found = list_next(itr)))
		xfree(found->links);
	list_iterator_destroy(itr);
}

/* What slurm.conf does not count is in no record, and so not constrained. */
static void say_rest(const char *name, list_t *list)
{
	char *rest = types_of(list);

	if (rest)
		error("gres/%s: found are %s more than slurm.conf has on this node: no job gets them, and every job can open them: mend Gres= of the node (tidectl devices --gres-conf)",
		      name, rest);
	xfree(rest);
}

static int is_fileless(void *x, void *key)
{
	gres_slurmd_conf_t *record = x;

	return !xstrcmp(record->name, key) && !record->file && record->count;
}

/* The records as lines of gres.conf. */
static char *write_lines(list_t *records, const char *name)
{
	list_itr_t *itr = list_iterator_create(records);
	gres_slurmd_conf_t *record;
	char *text = NULL;

	while ((record = list_next(itr))) {
		bool multiple = record->config_flags & GRES_CONF_HAS_MULT;

		if (xstrcmp(record->name, name) ||
		    (!record->file && !record->count))
			continue;
		xstrfmtcat(text, "Name=%s", name);
		if (record->type_name)
			xstrfmtcat(text, " Type=%s", record->type_name);
		if (record->file)
			xstrfmtcat(text, " %s=%s",
				   multiple ? "MultipleFiles" : "File",
				   record->file);
		if (record->cpus)
			xstrfmtcat(text, " Cores=%s", record->cpus);
		xstrcat(text, "\n");
	}
	list_iterator_destroy(itr);
	return text;
}

static void free_record(gres_slurmd_conf_t *record)
{
	xfree(record->cpus);
	FREE_NULL_BITMAP(record->cpus_bitmap);
	xfree(record->links);
	xfree(record->name);
	xfree(record->type_name);
	xfree(record->unique_id);
	xfree(record);
}

void tide_fill(list_t *records, const char *name, uint32_t cpu_cnt)
{
	char *lines = write_lines(records, name);
	struct task task = {
		.name = name,
		.lines = lines,
		.fill = list_find_first(records, is_fileless, (void *)name),
	};
	list_t *found = lines ? look(&task) : NULL, *bare;
	gres_slurmd_conf_t *record;
	uint64_t wanted = 0;

	xfree(lines);
	if (!found)
		return;
	bare = list_create(NULL);
	while ((record = list_remove_first(records, is_fileless,
					   (void *)name))) {
		wanted += record->count;
		list_append(bare, record);
	}
	check_links(found, wanted);
	while ((record = list_pop(bare))) {
		fill_record(records, record, found, cpu_cnt);
		free_record(record);
	}
	if (task.fill)
		say_rest(name, found);
	FREE_NULL_LIST(bare);
	FREE_NULL_LIST(found);
}
