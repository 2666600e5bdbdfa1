/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HDF5: makes layouts and reads attributes and tensors.  The one file that
 * calls HDF5, and it never lets HDF5 write to a disk: a library that meets a
 * full disk half-way leaves files and handles in states of its own, so it
 * fills a file in memory, and write.c does the writing.
 */
#include "config.h"

#include "launcher/checkpoint/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_ROOM 64

/* More than HDF5's own bytes for n tensors. */
#define META_ROOM(n) (8192 + 1024 * (hsize_t)(n))

/* The attributes, for writing and reading alike. */
struct attribute {
	const char *name;
	hid_t type; /* -1: text */
	void *value;
	size_t room; /* of a text */
};

enum {
	ATTRIBUTES = 11
};

static void attribute_table(struct attribute *table, int64_t *schema,
			    int64_t *numbers, struct tide_ckpt_meta *meta)
{
	const struct attribute all[ATTRIBUTES] = {
		{"schema", H5T_STD_I64LE, schema, 0},
		{"step", H5T_STD_I64LE, &meta->step, 0},
		{"samples", H5T_STD_I64LE, &meta->samples, 0},
		{"global_batch", H5T_STD_I64LE, &meta->global_batch, 0},
		{"seed", H5T_STD_U64LE, &meta->seed, 0},
		{"layers", H5T_STD_I64LE, &numbers[0], 0},
		{"width", H5T_STD_I64LE, &numbers[1], 0},
		{"heads", H5T_STD_I64LE, &numbers[2], 0},
		{"context", H5T_STD_I64LE, &numbers[3], 0},
		{"vocabulary", H5T_STD_I64LE, &numbers[4], 0},
		{"data", -1, meta->data_print, sizeof(meta->data_print)},
	};

	memcpy(table, all, sizeof(all));
}

static void quiet(void)
{
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static int hdf5_failed(struct tide_err *err, const char *what)
{
	return tide_err_set(err, EIO, "HDF5 could not %s", what);
}

static int write_attribute(hid_t file, const struct attribute *a)
{
	hid_t space = H5Screate(H5S_SCALAR), type, attr;
	int rc = -1;

	type = H5Tcopy(a->type < 0 ? H5T_C_S1 : a->type);
	if (a->type < 0)
		H5Tset_size(type, a->room);
	attr = H5Acreate2(file, a->name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	if (attr >= 0 && H5Awrite(attr, type, a->value) >= 0)
		rc = 0;
	if (attr >= 0)
		H5Aclose(attr);
	H5Tclose(type);
	H5Sclose(space);
	return rc;
}

/* One value: HDF5 writes as many as the file has, whatever the room. */
static bool is_scalar(hid_t attr)
{
	hid_t space = H5Aget_space(attr);
	hssize_t points = H5Sget_simple_extent_npoints(space);

	H5Sclose(space);
	return points == 1;
}

static int read_attribute(hid_t file, const struct attribute *a)
{
	hid_t attr = H5Aopen(file, a->name, H5P_DEFAULT), type;
	int rc = -1;

	if (attr < 0)
		return -1;
	if (!is_scalar(attr)) {
		H5Aclose(attr);
		return -1;
	}
	type = H5Tcopy(a->type < 0 ? H5T_C_S1 : a->type);
	if (a->type < 0)
		H5Tset_size(type, a->room);
	if (H5Aread(attr, type, a->value) >= 0)
		rc = 0;
	H5Tclose(type);
	H5Aclose(attr);
	return rc;
}

static int write_meta(hid_t file, const struct tide_ckpt_meta *meta)
{
	struct tide_ckpt_meta copy = *meta;
	int64_t schema = TIDE_CKPT_SCHEMA;
	int64_t numbers[] = {meta->shape.layers, meta->shape.width,
			     meta->shape.heads, meta->shape.context,
			     meta->shape.vocabulary};
	int64_t tied = meta->shape.tied;
	const struct attribute tied_attr = {"tied", H5T_STD_I64LE, &tied, 0};
	struct attribute table[ATTRIBUTES];

	attribute_table(table, &schema, numbers, &copy);
	for (int i = 0; i < ATTRIBUTES; i++)
		if (write_attribute(file, &table[i]))
			return -1;
	return write_attribute(file, &tied_attr);
}

static int add_group(hid_t file, const char *name)
{
	hid_t how = H5Pcreate(H5P_GROUP_CREATE), group;

	H5Pset_obj_track_times(how, 0);
	group = H5Gcreate2(file, name, H5P_DEFAULT, how, H5P_DEFAULT);
	H5Pclose(how);
	return group < 0 ? -1 : H5Gclose(group);
}

/* Space is taken at once and never filled: the offset is known, and nothing of
 * the tensor is written. */
static int64_t add_tensor(hid_t file, const struct tide_ckpt_tensor *t)
{
	hsize_t dims[2] = {t->shape[0], t->shape[1]};
	char path[PATH_ROOM + TIDE_PARAM_NAME];
	hid_t space = H5Screate_simple(t->ndim, dims, NULL), set;
	hid_t how = H5Pcreate(H5P_DATASET_CREATE);
	haddr_t at = HADDR_UNDEF;

	H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
	H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
	H5Pset_obj_track_times(how, 0);
	snprintf(path, sizeof(path), "/%s/%s", t->group, t->name);
	set = H5Dcreate2(file, path, H5T_IEEE_F32LE, space, H5P_DEFAULT, how,
			 H5P_DEFAULT);
	if (set >= 0) {
		at = H5Dget_offset(set);
		H5Dclose(set);
	}
	H5Pclose(how);
	H5Sclose(space);
	return at == HADDR_UNDEF ? -1 : (int64_t)at;
}

/*
 * A new file at the path, a template of mkostemp, in which bytes may lie and
 * room for HDF5's own is there: neither must be HDF5's to find out.
 */
static int make_room(char *path, int64_t bytes, int n)
{
	int fd = mkostemp(path, O_CLOEXEC), rc;

	if (fd < 0)
		return -1;
	rc = ftruncate(fd, bytes) ? errno
				  : posix_fallocate(fd, 0, META_ROOM(n));
	if (!rc)
		return fd;
	unlink(path);
	close(fd);
	errno = rc;
	return -1;
}

/*
 * A file of a memory file system that has lost its name already (HDF5 opens
 * by name only).  Where there is no /dev/shm, or no room in it, /tmp does: the
 * file is sparse and takes a few blocks.
 */
static hid_t make_file(int64_t bytes, int n, int *ret_fd)
{
	char path[] = "/dev/shm/tideflow-XXXXXX";
	char other[] = "/tmp/tideflow-XXXXXX", *used = path;
	hid_t access, create, file;
	int fd = make_room(path, bytes, n);

	if (fd < 0) {
		used = other;
		fd = make_room(other, bytes, n);
	}
	if (fd < 0)
		return -1;
	access = H5Pcreate(H5P_FILE_ACCESS);
	/* Metadata together at the front. */
	H5Pset_meta_block_size(access, META_ROOM(n));
	H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
	H5Pset_file_locking(access, 0, 1);
	/* No times inside: equal states are equal files. */
	create = H5Pcreate(H5P_FILE_CREATE);
	H5Pset_obj_track_times(create, 0);
	file = H5Fcreate(used, H5F_ACC_TRUNC, create, access);
	H5Pclose(create);
	H5Pclose(access);
	unlink(used);
	if (file < 0) {
		close(fd);
		errno = EIO;
	} else {
		*ret_fd = fd;
	}
	return file;
}

static int fill_layout(struct tide_ckpt_layout *l,
		       const struct tide_ckpt_meta *meta,
		       const struct tide_ckpt_tensor *tensors, int n,
		       struct tide_err *err)
{
	int64_t bytes = META_ROOM(n);
	hid_t file;
	int rc = 0;

	for (int i = 0; i < n; i++)
		bytes += tide_ckpt_bytes(&tensors[i]);
	file = make_file(bytes, n, &l->fd);
	if (file < 0)
		return tide_err_set(err, errno,
				    "cannot make a file in memory: %s",
				    strerror(errno));
	if (write_meta(file, meta))
		rc = hdf5_failed(err, "write attributes");
	for (int i = 0; !rc && i < n; i++) {
		/* tensors of one group come together */
		if ((!i || strcmp(tensors[i].group, tensors[i - 1].group)) &&
		    add_group(file, tensors[i].group))
			rc = hdf5_failed(err, "make a group");
		l->at[i] = add_tensor(file, &tensors[i]);
		if (l->at[i] < 0) {
			hdf5_failed(err, "make a dataset");
			rc = tide_err_prefix(err, "%s/%s", tensors[i].group,
					     tensors[i].name);
		}
	}
	if (H5Fclose(file) < 0 && !rc)
		rc = hdf5_failed(err, "close a file in memory");
	return rc;
}

int64_t tide_ckpt_bytes(const struct tide_ckpt_tensor *t)
{
	return t->shape[0] * (t->ndim > 1 ? t->shape[1] : 1) * sizeof(float);
}

int tide_ckpt_layout_create(struct tide_ckpt_layout *layout,
			    const struct tide_ckpt_meta *meta,
			    const struct tide_ckpt_tensor *tensors, int n,
			    struct tide_err *err)
{
	struct tide_ckpt_layout l = {.fd = -1};
	struct stat st;

	quiet();
	l.at = calloc(n, sizeof(*l.at));
	if (!l.at) {
		tide_err_set(err, ENOMEM, "out of memory");
		goto fail;
	}
	if (fill_layout(&l, meta, tensors, n, err))
		goto fail;
	if (fstat(l.fd, &st)) {
		tide_err_set(err, errno, "%s", strerror(errno));
		goto fail;
	}
	l.size = st.st_size;
	*layout = l;
	return 0;
fail:
	tide_ckpt_layout_release(&l);
	return -1;
}

void tide_ckpt_layout_release(struct tide_ckpt_layout *layout)
{
	int saved = errno;

	if (layout->fd >= 0)
		close(layout->fd);
	free(layout->at);
	layout->fd = -1;
	layout->at = NULL;
	errno = saved;
}

/* Through the folder's descriptor: its path may be anything. */
static hid_t open_file(int dirfd, const char *name, struct tide_err *err)
{
	char path[PATH_ROOM + 256];
	hid_t access, file;
	struct stat st;

	if (fstatat(dirfd, name, &st, 0) || !S_ISREG(st.st_mode)) {
		tide_err_set(err, EINVAL, "%s: not a regular file", name);
		return -1;
	}
	quiet();
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dirfd, name);
	access = H5Pcreate(H5P_FILE_ACCESS);
	H5Pset_file_locking(access, 0, 1);
	file = H5Fopen(path, H5F_ACC_RDONLY, access);
	H5Pclose(access);
	if (file < 0)
		tide_err_set(err, EINVAL, "%s: HDF5 could not open it", name);
	return file;
}

static int check_schema(hid_t file, const char *name, struct tide_err *err)
{
	int64_t schema = 0;
	const struct attribute a = {"schema", H5T_STD_I64LE, &schema, 0};

	if (read_attribute(file, &a))
		return tide_err_set(
			err, EINVAL,
			"%s: not a checkpoint of tiderun: attribute 'schema' is missing",
			name);
	if (schema != TIDE_CKPT_SCHEMA)
		return tide_err_set(
			err, EINVAL,
			"%s: written with schema %lld, this tiderun knows %d",
			name, (long long)schema, TIDE_CKPT_SCHEMA);
	return 0;
}

/* A digest says that nobody changed a file, not that it makes sense. */
static int check_meta(const struct tide_ckpt_meta *meta, const char *name,
		      struct tide_err *err)
{
	char expected[TIDE_CKPT_NAME];
	int64_t samples;

	if (meta->step < 0 || meta->global_batch < 1 ||
	    __builtin_mul_overflow(meta->step, meta->global_batch, &samples) ||
	    meta->samples != samples)
		return tide_err_set(
			err, EINVAL,
			"%s: its step %lld, samples %lld and global_batch %lld cannot be",
			name, (long long)meta->step, (long long)meta->samples,
			(long long)meta->global_batch);
	tide_ckpt_name(expected, meta->step);
	if (strcmp(name, expected))
		return tide_err_set(
			err, EINVAL,
			"%s: it holds step %lld: give it back its name '%s', or move it away",
			name, (long long)meta->step, expected);
	return 0;
}

int tide_ckpt_read_meta(int dirfd, const char *name,
			struct tide_ckpt_meta *ret_meta, struct tide_err *err)
{
	struct tide_ckpt_meta meta = {0};
	int64_t schema, numbers[5], tied;
	const struct attribute tied_attr = {"tied", H5T_STD_I64LE, &tied, 0};
	struct attribute table[ATTRIBUTES + 1];
	hid_t file = open_file(dirfd, name, err);
	int rc;

	if (file < 0)
		return -1;
	rc = check_schema(file, name, err);
	attribute_table(table, &schema, numbers, &meta);
	table[ATTRIBUTES] = tied_attr;
	for (int i = 0; !rc && i <= ATTRIBUTES; i++)
		if (read_attribute(file, &table[i]))
			rc = tide_err_set(
				err, EINVAL,
				"%s: attribute '%s' is missing or of another type",
				name, table[i].name);
	H5Fclose(file);
	if (rc || check_meta(&meta, name, err))
		return -1;
	meta.shape.layers = numbers[0];
	meta.shape.width = numbers[1];
	meta.shape.heads = numbers[2];
	meta.shape.context = numbers[3];
	meta.shape.vocabulary = numbers[4];
	meta.shape.tied = tied;
	*ret_meta = meta;
	return 0;
}

static int same_shape(hid_t set, const struct tide_ckpt_tensor *t)
{
	hsize_t dims[8] = {0};
	hid_t space = H5Dget_space(set);
	int ndim = H5Sget_simple_extent_ndims(space);

	if (ndim > 0 && ndim <= 8)
		H5Sget_simple_extent_dims(space, dims, NULL);
	H5Sclose(space);
	return ndim == t->ndim && (int64_t)dims[0] == t->shape[0] &&
	       (t->ndim < 2 || (int64_t)dims[1] == t->shape[1]);
}

static int read_tensor(hid_t file, const char *name,
		       const struct tide_ckpt_tensor *t, struct tide_err *err)
{
	char path[PATH_ROOM + TIDE_PARAM_NAME];
	hid_t set;
	int rc = 0;

	snprintf(path, sizeof(path), "/%s/%s", t->group, t->name);
	set = H5Dopen2(file, path, H5P_DEFAULT);
	if (set < 0)
		return tide_err_set(err, EINVAL, "%s: tensor '%s' is missing",
				    name, path);
	if (!same_shape(set, t))
		rc = tide_err_set(err, EINVAL,
				  "%s: tensor '%s' has another shape", name,
				  path);
	else if (H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
			 t->data) < 0)
		rc = tide_err_set(err, EIO,
				  "%s: HDF5 could not read tensor '%s'", name,
				  path);
	H5Dclose(set);
	return rc;
}

int tide_ckpt_read(int dirfd, const char *name,
		   const struct tide_ckpt_tensor *tensors, int n,
		   struct tide_err *err)
{
	hid_t file = open_file(dirfd, name, err);
	int rc = 0;

	if (file < 0)
		return -1;
	for (int i = 0; !rc && i < n; i++)
		rc = read_tensor(file, name, &tensors[i], err);
	H5Fclose(file);
	return rc;
}
