/* The C interface by a C compiler. */

#include <diarist/diarist.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  diarist_options options;
  diarist_diarizer* diarizer = NULL;
  diarist_status status;

  if (diarist_abi_version() != DIARIST_ABI_VERSION) return 1;
  if (diarist_options_init(&options, sizeof options) != DIARIST_OK) return 2;
  options.preset = "nonsense";
  status = diarist_diarizer_create(&options, &diarizer);
  if (status != DIARIST_INVALID_ARGUMENT || diarizer != NULL) return 3;
  if (strstr(diarist_last_error(), "nonsense") == NULL) return 4;
  if (diarist_diarizer_destroy(diarizer) != DIARIST_OK) return 5;
  printf("diarist %s\n", diarist_version());
  return 0;
}
