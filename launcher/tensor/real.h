/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number type of model and tensor code.  Everything is built for float;
 * model/ and tensor/ are built a second time with TIDE_REAL_DOUBLE, where
 * central differences are exact enough to check every gradient.
 */
#ifndef TIDE_TENSOR_REAL_H
#define TIDE_TENSOR_REAL_H

#ifdef TIDE_REAL_DOUBLE
typedef double real;
#define TIDE_REAL_NAME "double"
#else
typedef float real;
#define TIDE_REAL_NAME "float"
#endif

#endif
