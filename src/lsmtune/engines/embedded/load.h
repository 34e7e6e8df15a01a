/* The load: which key and value an operation has, the same for every store.

   Operation number n of a client is a pure function of seed, client and n, so that keys that have
   been written are found again without a list of them. records.lua has the same functions. */

#ifndef LSMTUNE_LOAD_H
#define LSMTUNE_LOAD_H

#include <stddef.h>
#include <stdint.h>

struct load {
  uint64_t num;        /* different keys */
  uint64_t operations; /* writes of each client */
  uint64_t seed;
  int in_order; /* key after key, or drawn at random */
  int threads;
  size_t key_size, value_size;
  double compression_ratio;
};

/* Values are pieces of one text, made once. */
struct values {
  char *text;
  uint64_t pieces;
};

uint64_t mixed(uint64_t number);
uint64_t key_number(const struct load *load, uint64_t client, uint64_t operation);
void write_key(const struct load *load, uint64_t number, char *key);
struct values make_values(const struct load *load);
const char *value_of(const struct load *load, const struct values *values, uint64_t operation);

#endif
