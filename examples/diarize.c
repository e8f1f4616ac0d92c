/* Who spoke when, from C: progress on stderr, RTTM on stdout. */

#include <stdio.h>

#include "diarist/diarist.h"

static int show(const diarist_progress* progress, void* user) {
  (void)user;
  fprintf(stderr, "%s: %.0f of %.0f s\n", progress->stage, progress->done_seconds,
          progress->total_seconds);
  return 0; /* anything else would stop the run */
}

static int fail(void) {
  fprintf(stderr, "diarize: %s (%s)\n", diarist_last_error(),
          diarist_status_name(diarist_last_status()));
  return 1;
}

int main(int argc, char** argv) {
  diarist_options options;
  diarist_run_options run;
  diarist_diarizer* diarizer = NULL;
  diarist_result* result = NULL;
  const diarist_speaker* speakers = NULL;
  size_t speaker_count = 0, i;
  char* rttm = NULL;
  int exit_code = 0;

  if (argc != 2) {
    fprintf(stderr, "usage: diarize RECORDING\n");
    return 2;
  }
  if (diarist_abi_version() != DIARIST_ABI_VERSION) {
    fprintf(stderr, "diarize: this is diarist %s, which has another interface\n",
            diarist_version());
    return 1;
  }

  diarist_options_init(&options, sizeof options);
  options.preset = "open";
  diarist_run_options_init(&run, sizeof run);
  run.progress = show;

  /* One that failed leaves null behind, which the next one refuses. */
  if (diarist_diarizer_create(&options, &diarizer) != DIARIST_OK ||
      diarist_diarizer_run_file(diarizer, argv[1], &run, &result) != DIARIST_OK ||
      diarist_result_speakers(result, &speakers, &speaker_count) != DIARIST_OK ||
      diarist_result_to_text(result, "rttm", &rttm, NULL) != DIARIST_OK) {
    exit_code = fail();
  } else {
    for (i = 0; i < speaker_count; ++i)
      fprintf(stderr, "%s speaks for %.1f s\n", speakers[i].name, speakers[i].speech_seconds);
    fputs(rttm, stdout);
  }

  diarist_text_free(rttm);
  diarist_result_destroy(result);
  diarist_diarizer_destroy(diarizer);
  return exit_code;
}
