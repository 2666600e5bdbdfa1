/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of keys of tide.conf.  See keys.h. */
#include "config.h"

#include "common/conf/keys.h"

#include <strings.h>

#include "common/conf/conf.h"

#define GLOBAL(field) TIDE_RECORD_GLOBAL, offsetof(struct tide_conf, field)
#define DEVICE(field) TIDE_RECORD_DEVICE, offsetof(struct tide_device, field)
#define OWNER(field) TIDE_RECORD_OWNER, offsetof(struct tide_owner, field)
#define WINDOW(field) TIDE_RECORD_WINDOW, offsetof(struct tide_window, field)
#define KEY(name, kind, where, unit, range, fallback, example, help) \
	KEY_(name, kind, where, unit, range, fallback, example, help)
#define KEY_(name, kind, record, offset, unit, range, fallback, example, help) \
	{                                                                      \
		name, record, kind, offset, unit, range, fallback, example,    \
			help                                                   \
	}
#define LATER(name, record, help)                                             \
	{                                                                     \
		name, record, TIDE_KEY_LATER, 0, NULL, NULL, NULL, NULL, help \
	}

/* clang-format off */
const struct tide_key tide_keys[] = {
	KEY("PoolPartition", TIDE_KEY_NAME, GLOBAL(pool_partition),
	    NULL, NULL, NULL, "pool",
	    "The partition of the shared pool. Only its jobs meet windows, charges and limits."),
	KEY("PoolAccount", TIDE_KEY_ACCOUNT, GLOBAL(pool_account),
	    NULL, NULL, NULL, "centre",
	    "The account that earns for pool devices that nobody lends, and Fee. Needed with Device."),
	KEY("IssueAccount", TIDE_KEY_ACCOUNT, GLOBAL(issue_account),
	    NULL, NULL, NULL, "mint",
	    "The account that grants come from; it may be negative. Needed with Device."),
	KEY("Fee", TIDE_KEY_PERCENT, GLOBAL(fee),
	    "percent", "0 100", "0", "0",
	    "The share of each charge that PoolAccount keeps."),
	KEY("CreditUnit", TIDE_KEY_DECIMAL, GLOBAL(credit_unit),
	    "credits", "0.000001 1000000000", "100", "100",
	    "Credits for one hour of the reference device."),
	KEY("Reference", TIDE_KEY_DEVICE, GLOBAL(reference),
	    NULL, NULL, NULL, "gpu:a100",
	    "The device whose TFLOPS the others are measured by. Needed where a Device gives TFLOPS."),
	KEY("CreditPrice", TIDE_KEY_DECIMAL, GLOBAL(credit_price),
	    "Currency per credit", "0 1000000000", NULL, "0.30",
	    "What a credit is worth, for reports only."),
	KEY("Currency", TIDE_KEY_TEXT, GLOBAL(currency),
	    NULL, NULL, NULL, "CNY",
	    "The currency of CreditPrice, for reports only."),
	KEY("Mode", TIDE_KEY_CHOICE, GLOBAL(mode),
	    NULL, "enforce|observe", "enforce", "enforce",
	    "With observe, TideFlow logs what it would do about windows, and does nothing."),

	KEY("Device", TIDE_KEY_DEVICE, DEVICE(name),
	    NULL, NULL, NULL, "gpu:a100",
	    "A priced device: name and type of the GRES. One of TFLOPS, Rate, and Of with Share says its price."),
	KEY("TFLOPS", TIDE_KEY_DECIMAL, DEVICE(tflops),
	    "TFLOPS, dense FP16", "0.000001 1000000000", NULL, "312",
	    "Its rate is CreditUnit x TFLOPS / TFLOPS of Reference credits per device-hour, kept as an exact fraction."),
	KEY("Rate", TIDE_KEY_DECIMAL, DEVICE(rate),
	    "credits per device-hour", "0.000001 1000000000", NULL, "100",
	    "Its rate, said directly."),
	KEY("Of", TIDE_KEY_DEVICE, DEVICE(of),
	    NULL, NULL, NULL, "npu:ascend310p",
	    "It is a part of that Device, such as a vNPU: its rate is Share of the whole's. tidectl devices --gres-conf prints such lines."),
	KEY("Share", TIDE_KEY_SHARE, DEVICE(share),
	    NULL, NULL, NULL, "1/2",
	    "How much of the device in Of it is, kept as an exact fraction."),

	KEY("OwnerAccount", TIDE_KEY_ACCOUNT, OWNER(account),
	    NULL, NULL, NULL, "nlp",
	    "The account of a lab that lends nodes; it earns what pool jobs pay for them. One line an account."),
	KEY("Nodes", TIDE_KEY_NODES, OWNER(nodes),
	    NULL, NULL, NULL, "lab[01-05]",
	    "The nodes it lends. Without an open window they are closed to the pool. A node has one owner."),
	KEY("Earn", TIDE_KEY_CHOICE, OWNER(earn),
	    NULL, "used", "used", "used",
	    "What it earns for: used is devices while pool jobs use them; offered is not supported yet."),

	KEY("WindowName", TIDE_KEY_NAME, WINDOW(name),
	    NULL, NULL, NULL, "nights",
	    "A time in which nodes are open to the pool, every week or once. The name is shown to users; it is unique."),
	KEY("Nodes", TIDE_KEY_NODES, WINDOW(nodes),
	    NULL, NULL, NULL, "lab[01-05]",
	    "The nodes it opens; each of them must be lent by an owner. Overlapping and adjoining windows of a node count as one."),
	KEY("Days", TIDE_KEY_DAYS, WINDOW(days),
	    NULL, NULL, NULL, "Mon-Fri",
	    "Weekly: the days on which it opens, such as Mon-Fri,Sun. Every day, when only Start or End is given."),
	KEY("Start", TIDE_KEY_CLOCK, WINDOW(start),
	    "HH:MM[:SS]", NULL, "00:00", "20:00",
	    "Weekly: the time of day at which it opens."),
	KEY("End", TIDE_KEY_CLOCK, WINDOW(end),
	    "HH:MM[:SS]", NULL, "24:00", "08:00",
	    "Weekly: the time of day at which it closes; on the next day when it is before Start. 24:00 is the end of the day. Never equal to Start."),
	KEY("From", TIDE_KEY_DATETIME, WINDOW(from),
	    "YYYY-MM-DD[THH:MM[:SS]]", NULL, NULL, "2026-12-20T18:00",
	    "Once: when it opens. Goes with Until, and not with Days, Start and End."),
	KEY("Until", TIDE_KEY_DATETIME, WINDOW(until),
	    "YYYY-MM-DD[THH:MM[:SS]]", NULL, NULL, "2027-01-04T08:00",
	    "Once: when it closes. A date alone is the 00:00 with which the day begins."),
	KEY("TimeZone", TIDE_KEY_ZONE, WINDOW(zone),
	    NULL, NULL, NULL, "Asia/Shanghai",
	    "The time zone of its times, such as Asia/Shanghai; that of the server when not given."),
	LATER("Calendar", TIDE_RECORD_WINDOW,
	      "Windows from a calendar file (RFC 5545)."),
	LATER("IdleAfter", TIDE_RECORD_WINDOW,
	      "Open while the owner has been inactive for so long."),
	LATER("Devices", TIDE_RECORD_WINDOW,
	      "Windows for some devices of a node."),
	LATER("Price", TIDE_RECORD_WINDOW,
	      "Prices by time."),
	LATER("Cluster", TIDE_RECORD_GLOBAL,
	      "Several clusters in one file."),
};
/* clang-format on */

const int tide_n_keys = sizeof(tide_keys) / sizeof(*tide_keys);

static const char *const record_names[TIDE_RECORDS] = {
	[TIDE_RECORD_GLOBAL] = NULL,
	[TIDE_RECORD_DEVICE] = "Device",
	[TIDE_RECORD_OWNER] = "OwnerAccount",
	[TIDE_RECORD_WINDOW] = "WindowName",
};

int tide_key_find(enum tide_record record, const char *name)
{
	for (int i = 0; i < tide_n_keys; i++)
		if (tide_keys[i].record == record &&
		    !strcasecmp(tide_keys[i].name, name))
			return i;
	return -1;
}

const char *tide_record_name(enum tide_record record)
{
	return record_names[record];
}
