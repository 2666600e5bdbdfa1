/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The documents that are made from the table of keys: the example file
 * contrib/examples/tide.conf, the section of tide.conf(5) on keys, and
 * docs/tide.conf.md.  Used when building and by a test; not part of the
 * library.
 */
#ifndef TIDE_CONF_KEYDOC_H
#define TIDE_CONF_KEYDOC_H

#include <stdio.h>

void tide_keydoc_example(FILE *out);
void tide_keydoc_man(FILE *out);
void tide_keydoc_markdown(FILE *out);

#endif /* TIDE_CONF_KEYDOC_H */
