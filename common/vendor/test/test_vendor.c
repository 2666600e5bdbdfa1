/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What vendors' libraries tell, by the synthetic stand-ins beside this file;
 * those that crash or hang are asked in processes of their own.
 */
#include "config.h"

#include "common/vendor/vendor.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/tap.h"

/* All that was told, as text. */
struct told {
	char text[4096];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void put(struct told *told,
						      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	told->len += (size_t)vsnprintf(told->text + told->len,
				       sizeof(told->text) - told->len, fmt, ap);
	va_end(ap);
}

static void on_library(void *arg, const char *path, const char *version)
{
	if (*version)
		put(arg, "version %s\n", version);
	else
		put(arg, "open %s\n", strrchr(path, '/') + 1);
}

static void on_asking(void *arg, const char *pci)
{
	if (*pci)
		put(arg, "%s", pci);
}

static void on_told(void *arg, const struct tide_vendor_device *device)
{
	put(arg, " %s %s %d/%d MiB %d W %d%% %d C numa %d", device->pci,
	    device->uuid, (int)device->memory_used, (int)device->memory,
	    (int)device->power, (int)device->utilization,
	    (int)device->temperature, (int)device->numa);
	if (*device->cpus)
		put(arg, " cpus %s", device->cpus);
	put(arg, " health %d", (int)device->health);
	if (*device->fault)
		put(arg, " (%s)", device->fault);
	for (size_t i = 0; i < device->n_peers; i++)
		put(arg, " -%s", device->peer[i] + strlen(device->peer[i]) - 6);
	put(arg, "\n");
}

static void on_part(void *arg, const struct tide_vendor_part *part)
{
	put(arg, "part %s %s %s\n", part->file, part->profile, part->uuid);
}

static int ask(const char *api, const char *library, const char *mode,
	       struct told *told, struct tide_err *err)
{
	const struct tide_vendor_sink sink = {
		.arg = told,
		.library = on_library,
		.asking = on_asking,
		.told = on_told,
		.part = on_part,
	};

	memset(told, 0, sizeof(*told));
	setenv("FAKE", mode, 1);
	return tide_vendor_ask(api, library, &sink, err);
}

#define UUID(n) "MLU-00000000-0000-0000-0000-00000000000" n

static const struct {
	const char *api, *library, *mode, *want;
} good[] = {
	{"cndev", "none.so," FAKES "fake_cndev.so", "",
	 "open fake_cndev.so\n"
	 "version 6.5.24\n"
	 "0000:9d:00.0 0000:9d:00.0 " UUID(
		 "0") " 100/24576 MiB 50 W 0% 40 C numa 1 health 1 -000003 -000001\n"
		      "0000:9e:00.0 0000:9e:00.0 " UUID(
			      "1") " 101/24576 MiB 51 W 10% 41 C numa 1 health 1 -000000 -000002\n"
				   "0000:3d:00.0 0000:3d:00.0 " UUID(
					   "2") " 102/24576 MiB 52 W 20% 42 C numa 0 health 1 -000001 -000003\n"
						"0000:3e:00.0 0000:3e:00.0 " UUID(
							"3") " 103/24576 MiB 53 W 30% 43 C numa 0 health 1 -000002 -000000\n"},
	{"cndev", FAKES "fake_cndev.so", "old",
	 "open fake_cndev.so\n"
	 "version 6.5.24\n"
	 "0000:9d:00.0 0000:9d:00.0 " UUID(
		 "0") " 100/24576 MiB 50 W 0% 40 C numa 1 health 1 -000003 -000001\n"
		      "0000:9e:00.0 0000:9e:00.0 " UUID(
			      "1") " 101/24576 MiB 51 W 10% 41 C numa 1 health 1 -000000 -000002\n"
				   "0000:3d:00.0 0000:3d:00.0 " UUID(
					   "2") " 102/24576 MiB 52 W 20% 42 C numa 0 health 1 -000001 -000003\n"
						"0000:3e:00.0 0000:3e:00.0 " UUID(
							"3") " 103/24576 MiB 53 W 30% 43 C numa 0 health 1 -000002 -000000\n"},
	{"cndev", FAKES "fake_cndev.so", "parts",
	 "open fake_cndev.so\n"
	 "version 6.5.24\n"
	 "0000:9d:00.0 0000:9d:00.0 " UUID(
		 "0") " 100/24576 MiB 50 W 0% 40 C numa 1 health 1 -000003 -000001\n"
		      "0000:9e:00.0 0000:9e:00.0 " UUID(
			      "1") " 101/24576 MiB 51 W 10% 41 C numa 1 health 1 -000000 -000002\n"
				   "0000:3d:00.0 0000:3d:00.0 " UUID(
					   "2") " 102/24576 MiB 52 W 20% 42 C numa 0 health 1 -000001 -000003\n"
						"part /dev/cambricon-caps/cap_dev2_mi1 smlu-12.000m.78.784gb MLU-00000000-0000-0000-0000-000000000020\n"
						"0000:3e:00.0 0000:3e:00.0 " UUID(
							"3") " 103/24576 MiB 53 W 30% 43 C numa 0 health 1 -000002 -000000\n"
							     "part /dev/cambricon-caps/cap_dev3_mi1 mim-2m.8gb MLU-00000000-0000-0000-0000-000000000030\n"
							     "part /dev/cambricon-caps/cap_dev3_mi2 mim-4m.16gb MLU-00000000-0000-0000-0000-000000000031\n"},
	{"dcmi", FAKES "fake_dcmi.so", "fault",
	 "open fake_dcmi.so\n"
	 "version 24.1.0\n"
	 "0000:01:00.0 0000:01:00.0 00000000-00000001-00000002-00000003-00000004 1527/21527 MiB 73 W 0% 44 C numa -1 cpus 0-3 health 1\n"
	 "0000:02:00.0 0000:02:00.0 00000010-00000011-00000012-00000013-00000014 1526/21527 MiB 73 W 20% 44 C numa -1 health 2 (minor alarm, error 0x80E18005)\n"
	 "0000:82:00.0 0000:82:00.0 00000020-00000021-00000022-00000023-00000024 1525/21527 MiB 73 W 40% 44 C numa -1 health 3 (critical alarm, error 0x80E18005) -2:00.0\n"
	 "0000:82:00.0 0000:82:00.0 00000030-00000031-00000032-00000033-00000034 1524/21527 MiB 73 W 60% 44 C numa -1 health 1 -2:00.0\n"},
	{"nvml", FAKES "fake_nvml.so", "fault",
	 "open fake_nvml.so\n"
	 "version 550.54.15\n"
	 "0000:34:00.0 0000:34:00.0 GPU-0 1024/81920 MiB 71 W 7% 31 C numa -1 health 1 -5:00.0\n"
	 "0000:35:00.0 0000:35:00.0 GPU-1 1024/81920 MiB 71 W 7% 31 C numa -1 health 2 (rows of its memory are remapped at the next reset) -6:00.0\n"
	 "0000:36:00.0 0000:36:00.0 GPU-2 -1/-1 MiB -1 W -1% -1 C numa -1 health 3 (the GPU is lost)\n"},
	{"rsmi", FAKES "fake_rsmi.so", "",
	 "open fake_rsmi.so\n"
	 "version 2.8.0\n"
	 "0000:33:00.0 0000:33:00.0  2048/65536 MiB 90 W 0% -1 C numa 0 health 0 -6:00.0\n"
	 "0000:36:00.0 0000:36:00.0 GPU-000000000000abc1 2048/65536 MiB 90 W 1% -1 C numa 0 health 0 -3:00.0\n"
	 "0000:a3:00.0 0000:a3:00.0 GPU-000000000000abc2 2048/65536 MiB 90 W 2% -1 C numa 1 health 0 -6:00.0\n"
	 "0000:a6:00.0 0000:a6:00.0 GPU-000000000000abc3 2048/65536 MiB 90 W 3% -1 C numa 0 health 0 -3:00.0\n"},
};

static const struct {
	const char *api, *library, *mode;
	int want;
	const char *text;
} bad[] = {
	{"cndev", "none.so,/nowhere/none.so", "", ENOENT,
	 "there is none of none.so, /nowhere/none.so"},
	{"cndev", FAKES "fake_cndev.so", "refuse", EIO,
	 "it says: No Driver (1)"},
	{"cndev", FAKES "fake_cndev.so", "version", ENOTSUP,
	 "it speaks neither version 6 nor 5 of its interface"},
	{"dcmi", FAKES "fake_nvml.so", "", ENOTSUP,
	 "it has no function 'dcmi_init': it is of another version"},
	{"dcmi", FAKES "fake_dcmi.so", "refuse", EIO,
	 "it does not start: error -8005"},
	{"nvml", FAKES "fake_nvml.so", "refuse", EIO,
	 "it says: Driver/library version mismatch (18)"},
	{"rsmi", FAKES "fake_rsmi.so", "refuse", EIO,
	 "it does not start: error 8"},
	{"nvml", "/etc/passwd", "", ENOTSUP,
	 "it cannot be loaded: /etc/passwd: "},
	{"other", "none.so", "", EINVAL,
	 "no interface 'other' is known: cndev, dcmi, nvml and rsmi are"},
};

/* The signal that ends the process which asks; a hang is ended by one. */
static int end_of(const char *mode)
{
	struct tide_err err;
	struct told told;
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		alarm(1);
		ask("cndev", FAKES "fake_cndev.so", mode, &told, &err);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(void)
{
	struct tide_err err;
	struct told told;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		int rc = ask(good[i].api, good[i].library, good[i].mode, &told,
			     &err);

		if (!ok(!rc, "%s %s is asked", good[i].api, good[i].mode))
			diag("%s", err.text);
		is_str(told.text, good[i].want, "what it tells");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int rc = ask(bad[i].api, bad[i].library, bad[i].mode, &told,
			     &err);

		is_int(rc ? errno : 0, bad[i].want, "errno");
		if (!ok(strstr(err.text, bad[i].text) != NULL, "%s",
			bad[i].text))
			diag("%s", err.text);
	}
	is_int(end_of("crash"), SIGABRT, "the stand-in crashes");
	is_int(end_of("hang"), SIGALRM, "the stand-in hangs");
	return tap_done();
}
