/* A stand-in for RocksDB's library: the functions of its C API that the check of an installation
 * uses, on records in memory. FAULT is what it does wrong. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTHING 0
#define LOSES 1   /* forgets every tenth record */
#define ABORTS 2  /* in a put */
#define REFUSES 3 /* to open */
#define HANGS 4   /* in a flush */

#define KEY 16
#define VALUE 200
#define MOST 1000

static struct { char key[KEY]; char value[VALUE]; size_t size; } records[MOST];
static int count;
static char thing;

void *rocksdb_options_create(void) { return &thing; }
void *rocksdb_writeoptions_create(void) { return &thing; }
void *rocksdb_readoptions_create(void) { return &thing; }
void *rocksdb_flushoptions_create(void) { return &thing; }
void rocksdb_options_set_create_if_missing(void *options, unsigned char on) {}
void rocksdb_free(void *value) { free(value); }
void rocksdb_close(void *store) {}

void *rocksdb_open(void *options, const char *folder, char **error) {
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
  return &thing;
}

void rocksdb_put(void *store, void *options, const char *key, size_t key_size, const char *value,
                 size_t size, char **error) {
  if (FAULT == ABORTS) abort();
  if (key_size != KEY || size > VALUE || count == MOST) abort();
  memcpy(records[count].key, key, KEY);
  memcpy(records[count].value, value, size);
  records[count++].size = size;
}

void rocksdb_flush(void *store, void *options, char **error) {
  while (FAULT == HANGS) pause();
}

char *rocksdb_get(void *store, void *options, const char *key, size_t key_size, size_t *size,
                  char **error) {
  for (int at = 0; at < count; at++) {
    if (memcmp(records[at].key, key, KEY) != 0) continue;
    if (FAULT == LOSES && at % 10 == 0) return NULL;
    *size = records[at].size;
    return memcpy(malloc(*size), records[at].value, *size);
  }
  return NULL;
}
