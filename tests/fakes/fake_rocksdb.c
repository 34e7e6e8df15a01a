/* A stand-in for RocksDB's library: the functions of its C API that the check of an installation
 * uses, on records in memory. FAULT is what it does wrong. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTHING 0
#define LOSES 1   /* forgets every tenth record when it flushes */
#define ABORTS 2  /* in a put */
#define REFUSES 3 /* to open */
#define HANGS 4   /* in a flush */

#define KEY 16
#define VALUE 200
#define MOST 1000

static struct { char key[KEY]; char value[VALUE]; size_t size; } records[MOST];
static int count, is_flushed;
static char thing;

void *rocksdb_options_create(void) { return &thing; }
void *rocksdb_writeoptions_create(void) { return &thing; }
void *rocksdb_readoptions_create(void) { return &thing; }
void *rocksdb_flushoptions_create(void) { return &thing; }
void rocksdb_options_set_create_if_missing(void *options, unsigned char on) {}
void rocksdb_options_set_create_missing_column_families(void *options, unsigned char on) {}
void rocksdb_readoptions_set_total_order_seek(void *options, unsigned char on) {}
void rocksdb_get_options_from_string(void *base, const char *text, void *options, char **error) {}
void rocksdb_column_family_handle_destroy(void *family) {}
void rocksdb_free(void *value) { free(value); }
void rocksdb_close(void *store) {}

void *rocksdb_open_column_families(void *options, const char *folder, int families,
                                   const char **names, void **each, void **handles, char **error) {
  char path[4096];
  if (FAULT == REFUSES) {
    *error = strdup("IO error: it does not open");
    return NULL;
  }
  if (mkdir(folder, 0700) != 0) abort();
  snprintf(path, sizeof path, "%s/LOG", folder);
  FILE *log = fopen(path, "w");
  fprintf(log, "2026/01/01-00:00:00.000000 1 RocksDB version: %s\n", VERSION);
  fclose(log);
  for (int at = 0; at < families; at++) handles[at] = &thing;
  return &thing;
}

void rocksdb_put_cf(void *store, void *options, void *family, const char *key, size_t key_size,
                    const char *value, size_t size, char **error) {
  if (FAULT == ABORTS) abort();
  if (key_size != KEY || size > VALUE || count == MOST) abort();
  memcpy(records[count].key, key, KEY);
  memcpy(records[count].value, value, size);
  records[count++].size = size;
}

void rocksdb_flush_cf(void *store, void *options, void *family, char **error) {
  while (FAULT == HANGS) pause();
  is_flushed = 1;
}

int *rocksdb_create_iterator_cf(void *store, void *options, void *family) {
  return calloc(1, sizeof(int));
}
void rocksdb_iter_seek_to_first(int *at) { *at = 0; }
unsigned char rocksdb_iter_valid(int *at) { return *at < count; }
void rocksdb_iter_next(int *at) { *at += FAULT == LOSES && is_flushed && *at % 10 == 0 ? 2 : 1; }
const char *rocksdb_iter_key(int *at, size_t *size) { return *size = KEY, records[*at].key; }
const char *rocksdb_iter_value(int *at, size_t *size) {
  return *size = records[*at].size, records[*at].value;
}
void rocksdb_iter_get_error(int *at, char **error) {}
void rocksdb_iter_destroy(int *at) { free(at); }
