/* A stand-in for libqcnpuperf: the same symbols, and answers from the file in QCNPUPERF_SCRIPT, which is read at each
 * qcom_dsp_open and qcom_dsp_get_prof_data: "open CODE", "count N", "clock KHZ", "q6 PERCENT", "hvx PERCENT",
 * "hmx PERCENT", "arch N", "hang US". Each call adds a line to the file in QCNPUPERF_TRACE: its name and its thread. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct context { int domain; };
struct data { float q6, hvx, hmx; unsigned clock; };

static struct data answer;

static double value(const char *name, double otherwise) {
  char found[64];
  double number;
  FILE *script = fopen(getenv("QCNPUPERF_SCRIPT"), "r");
  while (script && fscanf(script, "%63s %lf", found, &number) == 2)
    if (!strcmp(found, name)) otherwise = number;
  if (script) fclose(script);
  return otherwise;
}

static void note(const char *name) {
  FILE *trace = fopen(getenv("QCNPUPERF_TRACE"), "a");
  if (!trace) return;
  fprintf(trace, "%s %ld\n", name, (long)syscall(SYS_gettid));
  fclose(trace);
}

struct context *qcom_dsp_open(int domain) {
  note("open");
  if (domain != 3 || value("open", 1) == 0) return NULL;
  struct context *made = malloc(sizeof *made);
  made->domain = domain;
  return made;
}

struct data *qcom_dsp_get_prof_data(struct context *context, int *count) {
  note("read");
  double hang_us = value("hang", 0);
  if (hang_us > 0) usleep((useconds_t)hang_us);
  *count = (int)value("count", 4);
  answer = (struct data){(float)value("q6", 0), (float)value("hvx", 0), (float)value("hmx", 0), (unsigned)value("clock", 0)};
  return context && *count >= 0 ? &answer : NULL;
}

unsigned qcom_dsp_prof_get_q6_clock(const struct data *data) { return data ? data->clock : 0; }
float qcom_dsp_prof_get_q6_utilization(const struct data *data) { return data ? data->q6 : 0; }
float qcom_dsp_prof_get_hvx_utilization(const struct data *data) { return data ? data->hvx : 0; }
float qcom_dsp_prof_get_hmx_utilization(const struct data *data) { return data ? data->hmx : 0; }
#ifndef WITHOUT_ARCH
unsigned qcom_dsp_prof_get_q6_arch_version(struct context *context) { return context ? (unsigned)value("arch", 0) : 0; }
#endif

void qcom_dsp_close(struct context *context) {
  note("close");
  free(context);
}
