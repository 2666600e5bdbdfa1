/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of what nodes have. */
#include "config.h"

#include "common/util/gres.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/tap.h"

/* A list, and its items as NAME/TYPE=COUNT. */
static const struct {
	const char *list, *want;
} cases[] = {
	{"gpu:a100:4(S:0-1),mlu:2", "gpu/a100=4 mlu/=2"},
	{"npu:ascend910b:7(IDX:0-3,5),nic", "npu/ascend910b=7 nic/=1"},
	{"gpu:(null):2(IDX:0,3),gpu:t4:0(IDX:N/A)", "gpu/=2 gpu/t4=0"},
	{"gpu:3090:2,npu:310p:4,npu:310", "gpu/3090=2 npu/310p=4 npu/=310"},
	{"disk:2K,disk:ssd:1m", "disk/=2048 disk/ssd=1048576"},
	{"bw:no_consume:4,bw:fast:no_consume:2G", "bw/=4 bw/fast=2147483648"},
	{"gpu:a100", "gpu/a100=1"},
	{"mlu:9999999999999999999,mlu:9P", "mlu/=9223372036854775807 mlu/=10133099161583616"},
	{",:x:3,gpu::2,gpu:t4:x,gpu:a:b:2,dcu:,dcu:(null", ""},
	{"", ""},
};

int main(void)
{
	const char *cursor = NULL;
	struct tide_gres gres, any = {"GPU", "", 3, 0, 1};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[300] = "";
		size_t at = 0;

		cursor = cases[i].list;
		while (tide_gres_next(&cursor, &gres))
			at += (size_t)snprintf(
				text + at, sizeof(text) - at, "%s%.*s/%.*s=%lld",
				at ? " " : "", (int)gres.name_len, gres.name,
				(int)gres.type_len, gres.type,
				(long long)gres.count);
		is_str(text, cases[i].want, cases[i].list);
	}
	cursor = NULL;
	ok(!tide_gres_next(&cursor, &gres), "no list");
	cursor = "gpu:a100:2";
	ok(tide_gres_next(&cursor, &gres) && tide_gres_is(&gres, &any) &&
		   !tide_gres_is(&any, &gres),
	   "without a type any is meant");
	return tap_done();
}
