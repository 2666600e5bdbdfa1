# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the fuzz targets in the folder it is run in: `make -C build/tests fuzz`
# runs it with the variables of configure.  clang alone has libFuzzer, so this
# is apart from the rest, and compiles what is fuzzed anew.
CC = clang
CFLAGS = -std=gnu11 -O1 -g -fno-omit-frame-pointer \
	-fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined
CPPFLAGS = -I$(top) -I$(top_build) -DHAVE_CONFIG_H \
	-DTIDE_PLUGINDIR='"/usr/lib/tideflow/plugins"' \
	$(LIB_CFLAGS)
# compiler-rt has the checked arithmetic on 128 bits
LDFLAGS = -fsanitize=fuzzer,address,undefined --rtlib=compiler-rt

# families.c is made by the build
vpath %.c $(top):$(top_build)

sources := common/device/families.c $(filter-out %/keydoc.c %/keydoc_main.c, \
	$(patsubst $(top)/%,%,$(wildcard $(top)/common/*/*.c)))
targets := $(patsubst $(top)/tests/fuzz/%.c,%, \
	$(wildcard $(top)/tests/fuzz/fuzz_*.c))
ifeq ($(LAUNCHER),yes)
sources += $(patsubst $(top)/%,%,$(wildcard $(top)/launcher/checkpoint/*.c)) \
	launcher/train/settings.c
else
targets := $(filter-out fuzz_checkpoint fuzz_owner fuzz_settings,$(targets))
endif
objects := $(sources:.c=.o)

all: $(targets)

.SECONDARY:

%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -c -o $@ $<

fuzzed.a: $(objects)
	rm -f $@
	ar rcs $@ $(objects)

fuzz_%: tests/fuzz/fuzz_%.o fuzzed.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS) -lm

-include $(objects:.o=.d) $(targets:%=tests/fuzz/%.d)

.PHONY: all
