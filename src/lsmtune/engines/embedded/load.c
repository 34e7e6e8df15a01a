#include "load.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_BYTES = 1 << 20, CLIENT_BITS = 40 };

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";

/* splitmix64 (Steele, Lea, Flood 2014): consecutive numbers give independent ones. */
uint64_t mixed(uint64_t number) {
  number = (number + 1) * 0x9E3779B97F4A7C15u;
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9u;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBu;
  return number ^ (number >> 31);
}

uint64_t key_number(const struct load *load, uint64_t client, uint64_t operation) {
  if (load->in_order) return (client * load->operations + operation) % load->num;
  return mixed(mixed(load->seed) + (client << CLIENT_BITS) + operation) % load->num;
}

/* Decimal with leading zeros, `key_size` characters and an end. */
void write_key(const struct load *load, uint64_t number, char *key) {
  snprintf(key, load->key_size + 1, "%0*llu", (int)load->key_size, (unsigned long long)number);
}

/* Each value begins with as many random letters as it shall compress to, and repeats them. */
struct values make_values(const struct load *load) {
  struct values values = {NULL, TEXT_BYTES / load->value_size};
  if (values.pieces == 0) values.pieces = 1;
  size_t random = (size_t)((double)load->value_size * load->compression_ratio);
  if (random == 0) random = 1;
  values.text = malloc(values.pieces * load->value_size);
  uint64_t drawn = 0;
  for (uint64_t piece = 0; piece < values.pieces; piece++) {
    char *at = values.text + piece * load->value_size;
    for (size_t n = 0; n < load->value_size; n++) {
      at[n] = n < random ? LETTERS[mixed(drawn++) % 64] : at[n - random];
    }
  }
  return values;
}

const char *value_of(const struct load *load, const struct values *values, uint64_t operation) {
  return values->text + operation % values->pieces * load->value_size;
}
