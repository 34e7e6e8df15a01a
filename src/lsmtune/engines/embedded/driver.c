/* Drives an embedded store through one load: writes, settling, then a probe of reads.

   usage: lsmtune-stores STORE FOLDER name=value ...

   Prints a line of JSON as each part ends. All stores go through the same code, clock and keys. */

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "load.h"
#include "stores.h"

enum { BUCKETS = 1200, LINE = 256 };

static const double BUCKET_WIDTH = 1.02;
static const double TICK_S = 0.02;
/* More CPU time in a tick than this is work, not waiting. */
static const double BUSY_SHARE = 0.1;

static const struct store *const STORES[] = {&rocksdb_store, &leveldb_store, &lmdb_store};

struct run {
  const struct store *store;
  const char *folder;
  struct settings settings;
  struct load load;
  struct values values;
  uint64_t probe_reads;
  int scan_length;
  double quiet_s;
  void *db;
};

struct histogram {
  double bounds_us[BUCKETS];
  uint64_t counts[BUCKETS], total;
};

struct client {
  const struct run *run;
  uint64_t number;
  struct histogram times;
};

_Noreturn void fail(const char *what, const char *why) {
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", what, why);
  _exit(1); /* the stores' threads are still at work */
}

static double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu_s(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* What the kernel counts of this process's input and output, by its name there. */
static uint64_t io(const char *name) {
  char line[LINE];
  unsigned long long value = 0;
  FILE *file = fopen("/proc/self/io", "r");
  if (file == NULL) fail("/proc/self/io", "cannot be read");
  while (fgets(line, sizeof line, file) != NULL) {
    size_t length = strlen(name);
    if (strncmp(line, name, length) == 0 && line[length] == ':') {
      value = strtoull(line + length + 1, NULL, 10);
    }
  }
  fclose(file);
  return value;
}

/* Whether another thread than this one computes, or waits for the disk. */
static int others_work(void) {
  int found = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == NULL) fail("/proc/self/task", "cannot be read");
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
    char path[LINE], line[LINE];
    if (task->d_name[0] == '.' || atoi(task->d_name) == getpid()) continue;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task->d_name);
    FILE *file = fopen(path, "r");
    if (file == NULL) continue; /* it has ended meanwhile */
    if (fgets(line, sizeof line, file) != NULL) {
      const char *state = strrchr(line, ')'); /* behind the name, which may have spaces */
      found |= state != NULL && (state[2] == 'R' || state[2] == 'D');
    }
    fclose(file);
  }
  closedir(tasks);
  return found;
}

/* Latencies: buckets that are 2 % wide, each told by its middle. */

static void start_histogram(struct histogram *times) {
  memset(times, 0, sizeof *times);
  double bound = 0.1;
  for (int n = 0; n < BUCKETS; n++, bound *= BUCKET_WIDTH) times->bounds_us[n] = bound;
}

static void count(struct histogram *times, double us) {
  int low = 0, high = BUCKETS - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (times->bounds_us[middle] < us) low = middle + 1; else high = middle;
  }
  times->counts[low]++;
  times->total++;
}

static double percentile(const struct histogram *times, double share) {
  uint64_t passed = 0;
  for (int n = 0; n < BUCKETS; n++) {
    passed += times->counts[n];
    if ((double)passed >= share * (double)times->total) {
      return times->bounds_us[n] * (1 + 1 / BUCKET_WIDTH) / 2;
    }
  }
  return times->bounds_us[BUCKETS - 1];
}

static void print_times(const char *part, const struct histogram *times, double took_s) {
  printf("{\"part\": \"%s\", \"operations\": %llu, \"seconds\": %.6f, \"p50\": %.3f, "
         "\"p75\": %.3f, \"p99\": %.3f, \"p999\": %.3f, \"p9999\": %.3f}\n",
         part, (unsigned long long)times->total, took_s, percentile(times, 0.5),
         percentile(times, 0.75), percentile(times, 0.99), percentile(times, 0.999),
         percentile(times, 0.9999));
  fflush(stdout);
}

/* The load. */

static void *write_all(void *given) {
  struct client *client = given;
  const struct run *run = client->run;
  const struct load *load = &run->load;
  char key[load->key_size + 1];
  for (uint64_t n = 0; n < load->operations; n++) {
    write_key(load, key_number(load, client->number, n), key);
    const char *value = value_of(load, &run->values, n);
    double started_s = now_s();
    run->store->put(run->db, key, load->key_size, value, load->value_size);
    count(&client->times, (now_s() - started_s) * 1e6);
  }
  return NULL;
}

static void load_all(const struct run *run) {
  pthread_t threads[run->load.threads];
  struct client *clients = calloc((size_t)run->load.threads, sizeof *clients);
  double started_s = now_s();
  for (int n = 0; n < run->load.threads; n++) {
    clients[n].run = run;
    clients[n].number = (uint64_t)n;
    start_histogram(&clients[n].times);
    if (pthread_create(&threads[n], NULL, write_all, &clients[n]) != 0) fail("load", "no thread");
  }
  struct histogram all;
  start_histogram(&all);
  for (int n = 0; n < run->load.threads; n++) {
    pthread_join(threads[n], NULL);
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      all.counts[bucket] += clients[n].times.counts[bucket];
    }
    all.total += clients[n].times.total;
  }
  print_times("load", &all, now_s() - started_s);
  free(clients);
}

/* Wait until the process neither computes nor writes nor waits for the disk for so long; the time
   it was at work. */
static double settle(double quiet_s) {
  double started_s = now_s(), last_s = started_s, cpu = cpu_s();
  uint64_t written = io("wchar");
  while (now_s() - last_s < quiet_s) {
    struct timespec tick = {0, (long)(TICK_S * 1e9)};
    nanosleep(&tick, NULL);
    double cpu_now = cpu_s();
    uint64_t written_now = io("wchar");
    int busy = cpu_now - cpu > BUSY_SHARE * TICK_S || written_now != written || others_work();
    if (busy) last_s = now_s();
    cpu = cpu_now;
    written = written_now;
  }
  return last_s - started_s;
}

/* The probe: gets of keys that were written, gets of keys that lie between, short scans. */

enum kind { HIT, MISSING, SCAN };

static void probe(const struct run *run, enum kind kind, const char *name) {
  const struct load *load = &run->load;
  struct histogram times;
  start_histogram(&times);
  double began_s = now_s();
  for (uint64_t n = 0; n < run->probe_reads; n++) {
    char key[load->key_size + 2];
    uint64_t drawn = mixed(mixed(load->seed ^ (uint64_t)(kind + 1)) + n);
    uint64_t client = drawn % (uint64_t)load->threads;
    write_key(load, key_number(load, client, mixed(drawn) % load->operations), key);
    size_t size = load->key_size;
    if (kind == MISSING) key[size++] = '.';
    double started_s = now_s();
    int found = kind == SCAN ? run->store->scan(run->db, key, size, run->scan_length)
                             : run->store->get(run->db, key, size);
    count(&times, (now_s() - started_s) * 1e6);
    if (kind == HIT && !found) fail("probe", "a key that was written is not there");
    if (kind == MISSING && found) fail("probe", "a key that was never written is there");
  }
  print_times(name, &times, now_s() - began_s);
}

/* The command line. */

static const char *argument(int count, char **given, const char *name) {
  size_t length = strlen(name);
  for (int n = 3; n < count; n++) {
    if (strncmp(given[n], name, length) == 0 && given[n][length] == '=') {
      return given[n] + length + 1;
    }
  }
  fail(name, "is missing");
}

static uint64_t whole(int count, char **given, const char *name) {
  return strtoull(argument(count, given, name), NULL, 10);
}

static struct run read_arguments(int count, char **given) {
  struct run run = {.store = NULL, .folder = given[2]};
  for (size_t n = 0; n < sizeof STORES / sizeof *STORES; n++) {
    if (strcmp(STORES[n]->name, given[1]) == 0) run.store = STORES[n];
  }
  if (run.store == NULL) fail(given[1], "no such store");
  run.load = (struct load){
      .num = whole(count, given, "num"),
      .operations = whole(count, given, "operations"),
      .seed = whole(count, given, "seed"),
      .in_order = (int)whole(count, given, "in_order"),
      .threads = (int)whole(count, given, "threads"),
      .key_size = whole(count, given, "key_size"),
      .value_size = whole(count, given, "value_size"),
      .compression_ratio = strtod(argument(count, given, "compression_ratio"), NULL),
  };
  run.settings = (struct settings){
      .write_buffer_size = whole(count, given, "write_buffer_size"),
      .target_file_size_base = whole(count, given, "target_file_size_base"),
      .block_size = whole(count, given, "block_size"),
      .cache_size = whole(count, given, "cache_size"),
      .bloom_bits = atoi(argument(count, given, "bloom_bits")),
      .compressed = strcmp(argument(count, given, "compression_type"), "snappy") == 0,
      .most_bytes = run.load.num * (run.load.key_size + run.load.value_size),
  };
  run.probe_reads = whole(count, given, "probe_reads");
  run.scan_length = (int)whole(count, given, "scan_length");
  run.quiet_s = strtod(argument(count, given, "quiet_s"), NULL);
  run.values = make_values(&run.load);
  return run;
}

int main(int count, char **given) {
  if (count < 3) fail("usage", "lsmtune-stores STORE FOLDER name=value ...");
  struct run run = read_arguments(count, given);
  run.db = run.store->open(run.folder, &run.settings);
  printf("{\"part\": \"open\", \"version\": \"%s\"}\n", run.store->version());
  fflush(stdout);

  load_all(&run);
  double flushed_s = now_s();
  run.store->flush(run.db);
  double settle_s = now_s() - flushed_s;
  settle_s += settle(run.quiet_s);
  printf("{\"part\": \"loaded\"}\n");
  run.store->describe(run.db, stdout);
  /* Opened again, every store has its newest writes in its tables, and no block in its cache. */
  double closed_s = now_s();
  run.store->close(run.db);
  run.db = run.store->open(run.folder, &run.settings);
  settle_s += now_s() - closed_s;
  settle_s += settle(run.quiet_s);
  printf("{\"part\": \"reopened\"}\n");
  run.store->describe(run.db, stdout);
  printf("{\"part\": \"settle\", \"seconds\": %.6f, \"cpu_s\": %.6f, \"disk_write_bytes\": %llu}\n",
         settle_s, cpu_s(), (unsigned long long)io("write_bytes"));
  fflush(stdout);

  probe(&run, HIT, "get");
  probe(&run, MISSING, "get_missing");
  probe(&run, SCAN, "scan");
  run.store->close(run.db);
  printf("{\"part\": \"end\"}\n");
  return 0;
}
