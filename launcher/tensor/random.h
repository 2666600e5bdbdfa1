/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random numbers as pure functions of a key and a counter: nothing to save, and
 * the same on every layout.  The mixer is splitmix64's (Steele, Lea & Flood
 * 2014).  Not for secrets.
 */
#ifndef TIDE_TENSOR_RANDOM_H
#define TIDE_TENSOR_RANDOM_H

#include <math.h>
#include <stdint.h>

/* 64 well-mixed bits of (key, counter) */
static inline uint64_t tide_mix(uint64_t key, uint64_t counter)
{
	uint64_t z = key + (counter + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* FNV-1a of a string */
static inline uint64_t tide_hash_name(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return h;
}

/* in (0, 1) */
static inline double tide_uniform(uint64_t key, uint64_t counter)
{
	return ((tide_mix(key, counter) >> 11) + 0.5) * 0x1p-53;
}

/* standard normal (Box & Muller 1958) */
static inline double tide_normal(uint64_t key, uint64_t counter)
{
	double u = tide_uniform(key, 2 * counter);
	double v = tide_uniform(key, 2 * counter + 1);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

#endif
