/* What a store has to be able to do for the driver; one file a store implements it. */

#ifndef LSMTUNE_STORES_H
#define LSMTUNE_STORES_H

#include <stddef.h>
#include <stdio.h>

/* The settings that stores have in common, in bytes; a store leaves alone what it has not. */
struct settings {
  size_t write_buffer_size;
  size_t target_file_size_base;
  size_t block_size;
  size_t cache_size;
  int bloom_bits; /* bits a key; -1: no filter */
  int compressed; /* with snappy, or not at all */
  size_t most_bytes; /* an upper bound of what will be stored */
};

/* Every function ends the process by `fail` where the store reports an error. */
struct store {
  const char *name;
  const char *(*version)(void); /* empty where its log tells it */
  void *(*open)(const char *folder, const struct settings *settings);
  void (*put)(void *db, const char *key, size_t key_size, const char *value, size_t value_size);
  /* Whether there is a record; its value has been copied out. */
  int (*get)(void *db, const char *key, size_t key_size);
  /* Records read, at most so many, from the first key that is no smaller. */
  int (*scan)(void *db, const char *key, size_t key_size, int records);
  /* Bring the newest writes into tables, where the store can be asked to. */
  void (*flush)(void *db);
  /* What the store itself says of its inside. */
  void (*describe)(void *db, FILE *out);
  void (*close)(void *db);
};

extern const struct store leveldb_store, lmdb_store, rocksdb_store;

_Noreturn void fail(const char *what, const char *why);

#endif
