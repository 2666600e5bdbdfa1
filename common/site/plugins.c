/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For which Slurm a plugin was built: read out of the file, which is not
 * opened as a library, as that would run its code and need Slurm around it.
 */
#include "config.h"

#include "common/site/plugins.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/err.h"
#include "common/util/file.h"

enum {
	MAX_SYMBOLS = 1000000
};

struct elf {
	FILE *file;
	Elf64_Ehdr head;
	Elf64_Shdr *section;
};

static int read_at(struct elf *elf, uint64_t offset, void *to, size_t size)
{
	return fseek(elf->file, (long)offset, SEEK_SET) ||
			       fread(to, 1, size, elf->file) != size
		       ? -1
		       : 0;
}

static int read_sections(struct elf *elf)
{
	if (read_at(elf, 0, &elf->head, sizeof(elf->head)) ||
	    memcmp(elf->head.e_ident, ELFMAG, SELFMAG) ||
	    elf->head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->head.e_shentsize != sizeof(Elf64_Shdr) || !elf->head.e_shnum)
		return -1;
	elf->section = calloc(elf->head.e_shnum, sizeof(*elf->section));
	if (!elf->section)
		return -1;
	return read_at(elf, elf->head.e_shoff, elf->section,
		       elf->head.e_shnum * sizeof(*elf->section));
}

/* Whether the name at that place in the table of names is plugin_version. */
static int is_wanted(struct elf *elf, const Elf64_Shdr *names, uint32_t at)
{
	static const char wanted[] = "plugin_version";
	char name[sizeof(wanted)];

	return at < names->sh_size &&
	       !read_at(elf, names->sh_offset + at, name, sizeof(name)) &&
	       !memcmp(name, wanted, sizeof(name));
}

/* The four bytes at an address of the loaded file. */
static int read_value(struct elf *elf, uint64_t address, uint32_t *ret_value)
{
	for (int i = 0; i < elf->head.e_shnum; i++) {
		const Elf64_Shdr *s = &elf->section[i];

		if (s->sh_type == SHT_PROGBITS && s->sh_addr &&
		    address >= s->sh_addr &&
		    address - s->sh_addr + sizeof(*ret_value) <= s->sh_size)
			return read_at(elf, s->sh_offset + address - s->sh_addr,
				       ret_value, sizeof(*ret_value));
	}
	return -1;
}

static int find_version(struct elf *elf, const Elf64_Shdr *table,
			uint32_t *ret_value)
{
	uint64_t n = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Sym symbol;

	if (table->sh_link >= elf->head.e_shnum || n > MAX_SYMBOLS)
		return -1;
	for (uint64_t i = 0; i < n; i++) {
		if (read_at(elf, table->sh_offset + i * sizeof(symbol), &symbol,
			    sizeof(symbol)))
			return -1;
		if (symbol.st_shndx != SHN_UNDEF &&
		    is_wanted(elf, &elf->section[table->sh_link],
			      symbol.st_name))
			return read_value(elf, symbol.st_value, ret_value);
	}
	return -1;
}

int tide_plugin_version(const char *path, uint32_t *ret_version,
			struct tide_err *err)
{
	struct elf elf = {0};
	uint32_t value = 0;
	int rc;

	if (tide_file_plain(path, err))
		return -1;
	elf.file = fopen(path, "re");
	if (!elf.file)
		return tide_err_set(err, errno, "cannot open '%s': %s", path,
				    strerror(errno));
	rc = read_sections(&elf);
	for (int i = 0; !rc && !value && i < elf.head.e_shnum; i++)
		if (elf.section[i].sh_type == SHT_DYNSYM)
			find_version(&elf, &elf.section[i], &value);
	free(elf.section);
	fclose(elf.file);
	if (!value)
		return tide_err_set(err, EINVAL, "'%s' is no plugin of Slurm",
				    path);
	*ret_version = value;
	return 0;
}
