/* A stand-in for RocksDB's library: the functions of its C API that the driver uses, on records in
 * memory. FAULT is what it does wrong. */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NOTHING 0
#define LOSES 1    /* forgets every tenth key */
#define SWAPS 2    /* gives each key the value of the first */
#define REFUSES 3  /* to open */
#define HANGS 4    /* in the hundredth put */
#define LACKS 5    /* has no rocksdb_delete, and no cache and rate limiter of newer versions */
#define WORKS 6    /* always runs a compaction */
#define SILENT 7   /* has no property, and runs a compaction that ends while it is asked */
#define FAILS 8    /* in the hundredth put */
#define WAKES 9    /* a thread by a flush, and has no job for it yet */
#define DIES 10    /* in the hundredth put */
#define CHANGES 11 /* the size of memtables, and does not say so */
#define WAITS 12   /* in each put, until there has been a get */

#define KEY 32
#define VALUE 1200
#define MOST 4000

typedef unsigned char flag;
struct options {
  char text[4096], shared[4096];
  flag create, refuse;
  int statistics;
};
struct family { char name[40]; struct options *options; };
struct record { struct family *family; char key[KEY]; char value[VALUE]; size_t key_size, size; };

static struct record records[MOST];
static int count, puts_done, syncs, puts_without_log;
static volatile int gets_done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder_path[3000], log_path[4096];
static char thing;

void rocksdb_free(void *text) { free(text); }

#include "fake_store_open.h"

/* Operations. */

/* Whether RocksDB counts what a thread does. It must not do so for clients. */
static __thread int perf_level = 2;
void rocksdb_set_perf_level(int level) { perf_level = level; }

struct writing { int sync, without_log; };
struct writing *rocksdb_writeoptions_create(void) { return calloc(1, sizeof(struct writing)); }
void rocksdb_writeoptions_set_sync(struct writing *writing, flag on) { writing->sync = on; }
void rocksdb_writeoptions_disable_WAL(struct writing *writing, int on) {
  writing->without_log = on;
}
void *rocksdb_readoptions_create(void) { return &thing; }
void *rocksdb_flushoptions_create(void) { return &thing; }
void rocksdb_readoptions_set_total_order_seek(void *options, flag on) {}

static struct record *find(struct family *family, const char *key, size_t size) {
  for (int at = 0; at < count; at++) {
    if (records[at].family == family && records[at].key_size == size && memcmp(records[at].key, key, size) == 0) {
      return &records[at];
    }
  }
  return NULL;
}

void rocksdb_put_cf(void *store, struct writing *options, struct family *family, const char *key,
                    size_t key_size, const char *value, size_t size, char **error) {
  if (key_size > KEY || size > VALUE || perf_level != 1) abort();
  while (FAULT == WAITS && gets_done == 0) usleep(1000);
  pthread_mutex_lock(&lock);
  puts_done++;
  syncs += options->sync;
  puts_without_log += options->without_log;
  while (FAULT == HANGS && puts_done >= 100) pause();
  if (FAULT == DIES && puts_done >= 100) raise(SIGKILL);
  if (FAULT == FAILS && puts_done >= 100) *error = strdup("IO error: No space left on device");
  struct record *record = find(family, key, key_size);
  if (record == NULL) {
    if (count == MOST) abort();
    record = &records[count++];
  }
  memcpy(record->key, key, key_size);
  memcpy(record->value, value, size);
  record->family = family;
  record->key_size = key_size;
  record->size = size;
  pthread_mutex_unlock(&lock);
}

static void drop(struct family *family, const char *key, size_t size) {
  struct record *record = find(family, key, size);
  if (record != NULL) *record = records[--count];
}

#if FAULT != LACKS
void rocksdb_delete_cf(void *store, void *options, struct family *family, const char *key, size_t size,
                       char **error) {
  pthread_mutex_lock(&lock);
  drop(family, key, size);
  pthread_mutex_unlock(&lock);
}
#endif

void rocksdb_merge_cf(void *store, void *options, struct family *family, const char *key,
                      size_t key_size, const char *value, size_t size, char **error) {
  char joined[VALUE];
  size_t old = 0;
  pthread_mutex_lock(&lock);
  struct record *record = find(family, key, key_size);
  if (record != NULL) {
    if (record->size + 1 + size > VALUE) abort();
    memcpy(joined, record->value, record->size);
    joined[record->size] = ',';
    old = record->size + 1;
  }
  memcpy(joined + old, value, size);
  pthread_mutex_unlock(&lock);
  rocksdb_put_cf(store, options, family, key, key_size, joined, old + size, error);
}

/* A batch holds one delete: of a key, or of those from a key on and below the end. */

struct batch { struct family *family; char key[KEY], end[KEY]; size_t key_size, end_size; };

struct batch *rocksdb_writebatch_create(void) { return calloc(1, sizeof(struct batch)); }
void rocksdb_writebatch_destroy(struct batch *batch) { free(batch); }
void rocksdb_writebatch_singledelete_cf(struct batch *batch, struct family *family, const char *key,
                                        size_t size) {
  batch->family = family;
  memcpy(batch->key, key, size);
  batch->key_size = size;
}
void rocksdb_writebatch_delete_range_cf(struct batch *batch, struct family *family, const char *key,
                                        size_t key_size, const char *end, size_t end_size) {
  rocksdb_writebatch_singledelete_cf(batch, family, key, key_size);
  memcpy(batch->end, end, end_size);
  batch->end_size = end_size;
}

static int compare(const struct record *record, const char *key, size_t size);

void rocksdb_write(void *store, void *options, struct batch *batch, char **error) {
  pthread_mutex_lock(&lock);
  if (batch->end_size == 0) drop(batch->family, batch->key, batch->key_size);
  for (int at = batch->end_size == 0 ? -1 : count - 1; at >= 0; at--) {
    struct record *record = &records[at];
    if (record->family != batch->family) continue;
    if (compare(record, batch->key, batch->key_size) < 0) continue;
    if (compare(record, batch->end, batch->end_size) < 0) *record = records[--count];
  }
  pthread_mutex_unlock(&lock);
}

void *rocksdb_get_pinned_cf(void *store, void *options, struct family *family, const char *key,
                            size_t size, char **error) {
  struct record *copy = NULL;
  pthread_mutex_lock(&lock);
  gets_done++;
  struct record *record = find(family, key, size);
  if (record != NULL && !(FAULT == LOSES && (record - records) % 10 == 9)) {
    copy = malloc(sizeof *copy);
    *copy = *record;
    if (FAULT == SWAPS) memcpy(copy->value, records[0].value, VALUE);
  }
  pthread_mutex_unlock(&lock);
  return copy;
}

const char *rocksdb_pinnableslice_value(struct record *record, size_t *size) {
  *size = record->size;
  return record->value;
}

void rocksdb_pinnableslice_destroy(struct record *record) { free(record); }

void rocksdb_multi_get_cf(void *store, void *options, struct family *const *each, size_t number,
                          const char *const *keys, const size_t *key_sizes, char **values,
                          size_t *sizes, char **errors) {
  for (size_t at = 0; at < number; at++) {
    struct record *record =
        rocksdb_get_pinned_cf(store, options, each[at], keys[at], key_sizes[at], NULL);
    values[at] = errors[at] = NULL;
    if (FAULT == FAILS) errors[at] = strdup("Corruption: block checksum mismatch");
    if (record == NULL) continue;
    values[at] = malloc(record->size);
    memcpy(values[at], record->value, record->size);
    sizes[at] = record->size;
    free(record);
  }
}

/* An iterator looks through all records for the next key. */

struct iterator { struct family *family; struct record *at; };

static int compare(const struct record *record, const char *key, size_t size) {
  size_t common = record->key_size < size ? record->key_size : size;
  int order = memcmp(record->key, key, common);
  return order != 0 ? order : (record->key_size > size) - (record->key_size < size);
}

/* The first record from a key on, or behind it. */
static struct record *first(struct family *family, const char *key, size_t size, int behind) {
  struct record *found = NULL;
  for (int at = 0; at < count; at++) {
    struct record *record = &records[at];
    if (record->family != family) continue;
    if (compare(record, key, size) < behind) continue;
    if (found == NULL || compare(record, found->key, found->key_size) < 0) found = record;
  }
  return found;
}

/* The last record up to a key, or before it. */
static struct record *last(struct family *family, const char *key, size_t size, int before) {
  struct record *found = NULL;
  for (int at = 0; at < count; at++) {
    struct record *record = &records[at];
    if (record->family != family) continue;
    if (compare(record, key, size) > -before) continue;
    if (found == NULL || compare(record, found->key, found->key_size) > 0) found = record;
  }
  return found;
}

struct iterator *rocksdb_create_iterator_cf(void *store, void *options, struct family *family) {
  struct iterator *iterator = calloc(1, sizeof *iterator);
  iterator->family = family;
  return iterator;
}
void rocksdb_iter_seek(struct iterator *iterator, const char *key, size_t size) {
  iterator->at = first(iterator->family, key, size, 0);
}
void rocksdb_iter_seek_for_prev(struct iterator *iterator, const char *key, size_t size) {
  iterator->at = last(iterator->family, key, size, 0);
}
void rocksdb_iter_prev(struct iterator *iterator) {
  iterator->at = last(iterator->family, iterator->at->key, iterator->at->key_size, 1);
}
flag rocksdb_iter_valid(struct iterator *iterator) { return iterator->at != NULL; }
void rocksdb_iter_next(struct iterator *iterator) {
  iterator->at = first(iterator->family, iterator->at->key, iterator->at->key_size, 1);
}
const char *rocksdb_iter_key(struct iterator *iterator, size_t *size) {
  *size = iterator->at->key_size;
  return iterator->at->key;
}
const char *rocksdb_iter_value(struct iterator *iterator, size_t *size) {
  *size = iterator->at->size;
  return iterator->at->value;
}
void rocksdb_iter_get_error(struct iterator *iterator, char **error) {}
void rocksdb_iter_destroy(struct iterator *iterator) { free(iterator); }

/* Flushes, properties, statistics. */

static int flushes;

static volatile int named;

static void *turn(void *nothing) {
  time_t started = time(NULL);
  prctl(PR_SET_NAME, "rocksdb:low");
  named = 1;
  while (time(NULL) < started + 2) continue;
  return NULL;
}

void rocksdb_flush_cf(void *store, void *options, struct family *family, char **error) {
  pthread_t thread;
  flushes++;
  if (family == families[0]) keep();
  if (FAULT != WAKES) return;
  pthread_create(&thread, NULL, turn, NULL);
  while (!named) continue;
}

int rocksdb_property_int_cf(void *store, struct family *family, const char *name, uint64_t *value) {
  static int asked;
  if (FAULT == SILENT) {
    if (++asked == 9) {
      append(log_path, "1 EVENT_LOG_v1 {\"job\": 3, \"event\": \"compaction_finished\"}\n");
    }
    return -1;
  }
  *value = FAULT == WORKS && strcmp(name, "rocksdb.num-running-compactions") == 0;
  if (strcmp(name, "rocksdb.estimate-table-readers-mem") == 0) *value = 1000;
  return 0;
}

char *rocksdb_property_value_cf(void *store, struct family *family, const char *name) {
  char text[1000];
  int end = snprintf(text, sizeof text, "%s of %s", name, family->name);
  if (strcmp(name, "rocksdb.cfstats") == 0) {
    snprintf(text + end, sizeof text - end,
             "\n** Compaction Stats [%s] **\n"
             "Level    Files   Size     Score\n"
             "-------------------------------\n"
             "  L0      1/0   400.00 KB   0.2\n"
             " Sum      1/0   400.00 KB   0.0\n", family->name);
  }
  return strdup(text);
}

/* Two tables: number 12 in level 0, number 34 in level 6. */

void *rocksdb_livefiles(void *store) { return &thing; }
int rocksdb_livefiles_count(void *files) { return 2; }
const char *rocksdb_livefiles_name(void *files, int at) { return at ? "/000034.sst" : "/000012.sst"; }
int rocksdb_livefiles_level(void *files, int at) { return 6 * at; }
size_t rocksdb_livefiles_size(void *files, int at) { return 1000 + at; }
void rocksdb_livefiles_destroy(void *files) {}

/* All but the first are 0. */
static const char *const TICKERS[] = {
  "flush.write.bytes", "compact.write.bytes", "compact.read.bytes", "wal.bytes", "stall.micros",
  "number.keys.read", "number.db.seek", "block.cache.miss", "block.cache.add",
  "bloom.filter.useful", "block.cache.data.hit", "block.cache.data.miss", "block.cache.index.hit",
  "block.cache.index.miss", "block.cache.filter.hit", "block.cache.filter.miss",
};

char *rocksdb_options_statistics_get_string(struct options *options) {
  char text[4096];
  if (!options->statistics) return NULL;
  int end = snprintf(text, sizeof text,
                     "rocksdb.number.keys.written COUNT : %d\nsyncs COUNT : %d\n"
                     "without.log COUNT : %d\nflushes COUNT : %d\n"
                     "rocksdb.bytes.written COUNT : %d\n",
                     puts_done, syncs, puts_without_log, flushes, 100 * puts_done);
  for (size_t at = 0; at < sizeof TICKERS / sizeof *TICKERS; at++) {
    end += snprintf(text + end, sizeof text - end, "rocksdb.%s COUNT : %d\n", TICKERS[at],
                    at == 0 ? 100 * puts_done : 0);
  }
  return strdup(text);
}
