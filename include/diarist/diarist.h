/* The C interface of diarist: who speaks when, for C and for every language that calls C.
 *
 *     diarist_options options;
 *     diarist_options_init(&options, sizeof options);
 *     diarist_diarizer* diarizer = NULL;
 *     if (diarist_diarizer_create(&options, &diarizer) != DIARIST_OK) puts(diarist_last_error());
 *
 * Rules that hold for every function:
 *  - One that can fail returns a diarist_status; on failure its outputs are null or zero, and
 *    diarist_last_error() tells this thread what went wrong and what to do. No exception leaves,
 *    nothing is printed, the process is never ended.
 *  - Handles are opaque numbers, not addresses. Null, a destroyed handle or one of another kind is
 *    DIARIST_INVALID_ARGUMENT, wherever it is used; destroying null does nothing.
 *  - Functions may be called from any thread, also on one handle at the same time. A handle that is
 *    destroyed while a call uses it lives until that call returns.
 *  - Options begin with their size; *_init() sets it and the defaults. A program that was compiled
 *    against an older or newer header goes on working: members that it does not have are at their
 *    defaults, members that this library does not know must be zero.
 *  - Texts are UTF-8 and end with a zero; paths are the bytes that the system takes.
 *  - A diarizer or embedder with worker threads must be made after fork(), not before it: in the
 *    child it is DIARIST_UNSUPPORTED.
 */
#ifndef DIARIST_DIARIST_H
#define DIARIST_DIARIST_H

#include <stddef.h>
#include <stdint.h>

#ifndef DIARIST_API
#if defined(__GNUC__)
#define DIARIST_API __attribute__((visibility("default")))
#else
#define DIARIST_API
#endif
#endif

/* NOLINTBEGIN(readability-identifier-naming, modernize-use-using): names as C has them. */
#ifdef __cplusplus
extern "C" {
#endif

/* ---- version and errors ---------------------------------------------------------------------- */

/* Grows by one when something that exists changes its meaning or goes; not for what is added. */
#define DIARIST_ABI_VERSION 1

/* DIARIST_ABI_VERSION of the library at hand: compare it with the macro before anything else. */
DIARIST_API uint32_t diarist_abi_version(void);
/* "0.1.0" */
DIARIST_API const char* diarist_version(void);

/* What went wrong. The numbers are those of diarist::ErrorCode. */
typedef enum diarist_status {
  DIARIST_OK = 0,
  DIARIST_INVALID_ARGUMENT = 1, /* an option or argument can't be honoured; change the call */
  DIARIST_NOT_FOUND = 2,        /* a file, folder or device does not exist */
  DIARIST_BAD_FILE = 3,         /* a file exists but can't be used: damaged, truncated, not audio */
  DIARIST_BAD_MODEL = 4,        /* a model is missing, damaged, or not what it claims to be */
  DIARIST_UNSUPPORTED = 5,      /* understood, but this build, machine or process can't do it */
  DIARIST_OUT_OF_MEMORY = 6,    /* the host or the device has too little memory left */
  DIARIST_DEVICE_LOST = 7,      /* the device stopped answering; make a new diarizer */
  DIARIST_CANCELLED = 8,        /* the caller asked to stop */
  DIARIST_INTERNAL = 9          /* a bug in diarist; please report it */
} diarist_status;

/* "bad_file" and so on; "unknown" for a number that is no status. */
DIARIST_API const char* diarist_status_name(diarist_status status);
/* Text of this thread's last failure, valid until its next one; empty before the first. */
DIARIST_API const char* diarist_last_error(void);
/* Status of this thread's last failure; DIARIST_OK before the first. */
DIARIST_API diarist_status diarist_last_status(void);

/* ---- what this build and machine can do ------------------------------------------------------ */

/* Lists live as long as the process. */
typedef struct diarist_info {
  size_t struct_size;
  const char* version;
  const char* const* presets; /* "community-1", "open", ... */
  size_t preset_count;
  const char* const* devices; /* "cpu", "reference", "cuda:0", ... */
  size_t device_count;
  const char* const* cpu_targets; /* instruction sets that this machine can run, best first */
  size_t cpu_target_count;
  const char* const* audio_readers; /* "libsndfile 1.2.0", ... */
  size_t audio_reader_count;
} diarist_info;

/* Fills what fits into info->struct_size bytes, which the caller sets. */
DIARIST_API diarist_status diarist_get_info(diarist_info* info);
/* Handles that were made and not destroyed yet: for looking for leaks. */
DIARIST_API size_t diarist_open_handles(void);

/* ---- stopping -------------------------------------------------------------------------------- */

/* A wish to stop that any number of runs look at, once per batch at least. */
typedef struct diarist_stop diarist_stop;

/* Made before the runs that it is to stop. */
DIARIST_API diarist_status diarist_stop_create(diarist_stop** stop);
/* Runs that were given this handle end with DIARIST_CANCELLED, those that begin later as well. From
 * any thread, but not from a signal handler. */
DIARIST_API diarist_status diarist_stop_request(diarist_stop* stop);
/* Runs that were given it go on, and can no longer be stopped by it. */
DIARIST_API diarist_status diarist_stop_destroy(diarist_stop* stop);

/* ---- a diarizer ------------------------------------------------------------------------------ */

/* How exactly the networks calculate. */
typedef enum diarist_precision {
  DIARIST_PRECISION_DEFAULT = 0, /* a diarizer's: exact; an embedder's: fast on GPUs, else exact */
  DIARIST_PRECISION_EXACT = 1,   /* results at FP32 accuracy */
  DIARIST_PRECISION_FAST = 2,    /* embeddings within a cosine of 0.9999 */
  DIARIST_PRECISION_TF32 = 3     /* a vendor library's TF32, for comparison; GPUs only */
} diarist_precision;

/* What a diarizer is made of. */
typedef struct diarist_options {
  size_t struct_size;
  const char* preset; /* "open", "open-lite", "community-1", "pyannote-3.1"; null: the best
                         installed one */
  const char* models; /* folder of model bundles; null: $DIARIST_MODELS, the user's cache */
  const char* device; /* "cpu", "cuda", "cuda:0", "cuda:0,1"; null: "cpu" */
  const char* target; /* force an instruction set by name; null: the best */
  int32_t precision;  /* a diarist_precision */
  int32_t threads;    /* 0: all processors this process may use */
  int32_t batch;      /* windows per batch; 0: chosen by the device. Never changes a result */
  int32_t allow_unknown_weights; /* not 0: accept weights whose fingerprint is not known */
  uint64_t max_gpu_memory;       /* bytes of each GPU; 0: nine tenths of what is free */
} diarist_options;

/* Sets the size and the defaults. \param struct_size sizeof(diarist_options) */
DIARIST_API diarist_status diarist_options_init(diarist_options* options, size_t struct_size);

/* Weights and options on one device or several GPUs. */
typedef struct diarist_diarizer diarist_diarizer;

/* Loads and checks the models. \param options null: defaults. */
DIARIST_API diarist_status diarist_diarizer_create(const diarist_options* options,
                                                   diarist_diarizer** diarizer);
/* Frees weights, threads and device memory. */
DIARIST_API diarist_status diarist_diarizer_destroy(diarist_diarizer* diarizer);
/* Name of the preset in use, valid as long as the diarizer. */
DIARIST_API diarist_status diarist_diarizer_preset(diarist_diarizer* diarizer, const char** preset);

/* ---- a run ----------------------------------------------------------------------------------- */

/* A snapshot, valid during the callback. Seconds are seconds of audio. */
typedef struct diarist_progress {
  size_t struct_size;
  const char* stage;    /* "networks", "clustering", ... */
  double done_seconds;  /* finished in this stage */
  double total_seconds; /* 0 while the length is not known */
} diarist_progress;

/* How much a line matters. */
typedef enum diarist_log_level {
  DIARIST_LOG_DEBUG = 0,
  DIARIST_LOG_INFO = 1,
  DIARIST_LOG_WARNING = 2
} diarist_log_level;

/* Called about once per batch, by one thread at a time. Anything but 0 stops the run, which then
 * returns DIARIST_CANCELLED. Must not use the diarizer that is running, and must not jump out. */
typedef int (*diarist_progress_callback)(const diarist_progress* progress, void* user);
/* One line without line end; only valid during the call. */
typedef void (*diarist_log_callback)(diarist_log_level level, const char* text, void* user);

/* Options and callbacks of one run. */
typedef struct diarist_run_options {
  size_t struct_size;
  int32_t num_speakers;    /* 0: not known */
  int32_t min_speakers;    /* 0: no limit */
  int32_t max_speakers;    /* 0: no limit */
  int32_t step_seconds;    /* seconds between windows: 1, 2 or 5 */
  int32_t reference;       /* not 0: print exactly what the reference pipeline prints */
  int32_t keep_stages;     /* not 0: diarist_result_stages() will have something to tell */
  int32_t track;           /* sound track of a container, from 1; 0: the main one */
  int32_t channel;         /* use this channel only, from 1; 0: the mean of all */
  int32_t split_channels;  /* not 0: diarize left and right apart */
  int32_t container_clock; /* not 0: place sound where the container's time stamps say */
  double from;             /* seconds */
  double to;               /* seconds; 0: to the end */
  const char* raw_format;  /* of samples without a header: "s16le:16000:1"; null: there is one */
  diarist_stop* stop;      /* null: nobody will stop it */
  diarist_progress_callback progress; /* null: none */
  diarist_log_callback log;           /* null: none */
  void* user;                         /* handed to the callbacks */
} diarist_run_options;

/* Sets the size and the defaults. \param struct_size sizeof(diarist_run_options) */
DIARIST_API diarist_status diarist_run_options_init(diarist_run_options* options,
                                                    size_t struct_size);

/* Samples that stay the caller's and are not copied, in one of `samples` and `pcm16`. */
typedef struct diarist_audio {
  size_t struct_size;
  const float* samples; /* [frames, channels], in [-1, 1]; or: */
  const int16_t* pcm16; /* the same in 16 bits: value / 32768 */
  size_t frames;
  int32_t sample_rate; /* in Hz */
  int32_t channels;    /* mixed to mono by their mean */
  int32_t planar;      /* not 0: [channels, frames], channel after channel */
} diarist_audio;

/* No samples, 16000 Hz, one channel. \param struct_size sizeof(diarist_audio) */
DIARIST_API diarist_status diarist_audio_init(diarist_audio* audio, size_t struct_size);

/* Who spoke when. Must be destroyed. */
typedef struct diarist_result diarist_result;

/* Decodes and diarizes one file. \param options null: defaults. */
DIARIST_API diarist_status diarist_diarizer_run_file(diarist_diarizer* diarizer, const char* path,
                                                     const diarist_run_options* options,
                                                     diarist_result** result);
/* Diarizes samples in memory; none at all give an empty result. */
DIARIST_API diarist_status diarist_diarizer_run_audio(diarist_diarizer* diarizer,
                                                      const diarist_audio* audio,
                                                      const diarist_run_options* options,
                                                      diarist_result** result);

/* What became of files[index]: a result, which is the callee's to destroy, or null with a status
 * and a text. Anything but 0 ends the run, which then returns DIARIST_OK. */
typedef int (*diarist_file_callback)(size_t index, diarist_result* result, diarist_status status,
                                     const char* error, void* user);
/* Diarizes many files, on GPUs with common batches; results are those of run_file(). `done` is
 * called by this thread, in the order of the files, with options->user. A file that fails stops
 * nothing. */
DIARIST_API diarist_status diarist_diarizer_run_files(diarist_diarizer* diarizer,
                                                      const char* const* paths, size_t count,
                                                      const diarist_run_options* options,
                                                      diarist_file_callback done);

/* ---- audio that is still arriving -------------------------------------------------------------
 */

/* One recording in pieces, with a thread of its own. It keeps the weights of its diarizer alive. */
typedef struct diarist_stream diarist_stream;

/* Begins a recording whose samples will be pushed. \param sample_rate in Hz. \param channels
 * interleaved. \param options null: defaults; their stop and callbacks are those of every call on
 * the stream. Splitting channels is DIARIST_UNSUPPORTED. */
DIARIST_API diarist_status diarist_stream_create(diarist_diarizer* diarizer, int32_t sample_rate,
                                                 int32_t channels,
                                                 const diarist_run_options* options,
                                                 diarist_stream** stream);
/* Copies the next samples, of the stream's rate and number of channels. Waits when more than 60
 * seconds of audio are ahead of the networks. Not after diarist_stream_finish(). */
DIARIST_API diarist_status diarist_stream_push(diarist_stream* stream, const diarist_audio* audio);
/* Who has spoken so far: what a run would say of the samples pushed. Names are kept from one
 * snapshot to the next. */
DIARIST_API diarist_status diarist_stream_snapshot(diarist_stream* stream, diarist_result** result);
/* No more samples follow: the result, as of diarist_diarizer_run_audio(). After DIARIST_CANCELLED
 * it may be called again, after DIARIST_OK nothing but progress and destroy. */
DIARIST_API diarist_status diarist_stream_finish(diarist_stream* stream, diarist_result** result);
/* Seconds pushed, and seconds that the networks are through with. */
DIARIST_API diarist_status diarist_stream_progress(diarist_stream* stream, double* heard_seconds,
                                                   double* seen_seconds);
/* Also in the middle: what is under way is stopped. */
DIARIST_API diarist_status diarist_stream_destroy(diarist_stream* stream);

/* ---- results --------------------------------------------------------------------------------- */

/* One stretch of speech of one speaker, in seconds. */
typedef struct diarist_turn {
  double start;
  double end;
  int32_t speaker;  /* index into the speakers */
  float confidence; /* 0 to 1 */
} diarist_turn;

/* One of the voices of a recording. */
typedef struct diarist_speaker {
  const char* name; /* "SPEAKER_00" */
  double speech_seconds;
  const float* embedding; /* centroid of the speaker's cluster; zeros when it has none */
  size_t embedding_dim;
} diarist_speaker;

/* What the stages between audio and turns said (keep_stages). */
typedef struct diarist_stages {
  size_t struct_size;
  size_t windows;               /* C */
  size_t frames;                /* of the recording: N */
  size_t embedding_dim;         /* D */
  const uint8_t* activity;      /* [C, 589]; bit s: local speaker s speaks */
  const float* embeddings;      /* [C, 3, D]; a row of NaN: no vector for this pair */
  const int32_t* hard_clusters; /* [C, 3]; -2: unassigned or inactive */
  const uint8_t* counts;        /* [N] speakers per frame */
} diarist_stages;

/* Pointers that the following functions give are valid as long as the result. A list without
 * members may be null. */

/* Who spoke when, sorted by start. */
DIARIST_API diarist_status diarist_result_turns(diarist_result* result, const diarist_turn** turns,
                                                size_t* count);
/* At most one speaker at a time. */
DIARIST_API diarist_status diarist_result_exclusive_turns(diarist_result* result,
                                                          const diarist_turn** turns,
                                                          size_t* count);
/* The speakers in the order of their names; turns count into them. */
DIARIST_API diarist_status diarist_result_speakers(diarist_result* result,
                                                   const diarist_speaker** speakers, size_t* count);
/* What a user should know of the recording, one line each. */
DIARIST_API diarist_status diarist_result_warnings(diarist_result* result,
                                                   const char* const** warnings, size_t* count);
/* File name without folder and last ending; empty for audio in memory. */
DIARIST_API diarist_status diarist_result_uri(diarist_result* result, const char** uri);
/* Seconds to the end of the audio that was decoded. */
DIARIST_API diarist_status diarist_result_duration(diarist_result* result, double* seconds);
/* Fills what fits into stages->struct_size bytes, which the caller sets.
 * DIARIST_INVALID_ARGUMENT for a run without keep_stages. */
DIARIST_API diarist_status diarist_result_stages(diarist_result* result, diarist_stages* stages);

/* The result in a text format: "rttm", "json", "csv", "srt", ... (docs/formats.md), byte for byte
 * what the program writes. \param length without the zero at the end; may be null.
 * \param text must be given to diarist_text_free(). */
DIARIST_API diarist_status diarist_result_to_text(diarist_result* result, const char* format,
                                                  char** text, size_t* length);
/* Frees a text; null does nothing. */
DIARIST_API void diarist_text_free(char* text);

/* How turns are to be shaped; the steps are done in this order. */
typedef struct diarist_shaping {
  size_t struct_size;
  const char* const* names; /* of the speakers by number; null: as they are */
  size_t name_count;
  double min_duration_off; /* shorter pauses of one speaker are filled */
  double min_duration_on;  /* shorter turns are dropped */
  double merge_gap;        /* turns of one speaker are joined over a shorter pause */
  double pad;              /* turns begin earlier and end later by this */
  int32_t exclusive;       /* not 0: the turns are the exclusive ones */
} diarist_shaping;

/* Sets the size; nothing is shaped. \param struct_size sizeof(diarist_shaping) */
DIARIST_API diarist_status diarist_shaping_init(diarist_shaping* shaping, size_t struct_size);
/* A new result, which must be destroyed as well. */
DIARIST_API diarist_status diarist_result_shape(diarist_result* result,
                                                const diarist_shaping* shaping,
                                                diarist_result** shaped);
/* Frees a result and everything that was read from it by pointer. */
DIARIST_API diarist_status diarist_result_destroy(diarist_result* result);

/* ---- speaker embeddings ---------------------------------------------------------------------- */

/* What an embedder is made of. */
typedef struct diarist_embedder_options {
  size_t struct_size;
  const char* preset;  /* its embedding network; null: that of the best installed one */
  const char* models;  /* as in diarist_options */
  const char* weights; /* a bundle's folder or a weight file, in place of a preset; null: none */
  const char* device;  /* "cpu", "cuda" or "cuda:N"; null: "cpu" */
  const char* target;
  int32_t precision;
  int32_t threads;
  int32_t batch; /* chunks per batch; 0: chosen by the device */
  int32_t allow_unknown_weights;
} diarist_embedder_options;

/* Sets the size and the defaults. \param struct_size sizeof(diarist_embedder_options) */
DIARIST_API diarist_status diarist_embedder_options_init(diarist_embedder_options* options,
                                                         size_t struct_size);

/* One embedding network on one device. */
typedef struct diarist_embedder diarist_embedder;

/* Loads and checks the weights. \param options null: defaults. */
DIARIST_API diarist_status diarist_embedder_create(const diarist_embedder_options* options,
                                                   diarist_embedder** embedder);
/* Frees weights, threads and device memory. */
DIARIST_API diarist_status diarist_embedder_destroy(diarist_embedder* embedder);
/* Numbers of an embedding. */
DIARIST_API diarist_status diarist_embedder_dim(diarist_embedder* embedder, size_t* dim);

/* A stretch of a recording in seconds. */
typedef struct diarist_span {
  double start;
  double end;
} diarist_span;

/* One embedding per span, or one of the whole recording when there are no spans.
 * \param embeddings receives [max(span_count, 1), dim] numbers. \param capacity how many numbers
 * have room; exactly so many are needed. \param stop may be null. */
DIARIST_API diarist_status diarist_embedder_embed_file(diarist_embedder* embedder, const char* path,
                                                       const diarist_span* spans, size_t span_count,
                                                       float* embeddings, size_t capacity,
                                                       diarist_stop* stop);
/* The same of samples in memory. */
DIARIST_API diarist_status diarist_embedder_embed_audio(diarist_embedder* embedder,
                                                        const diarist_audio* audio,
                                                        const diarist_span* spans,
                                                        size_t span_count, float* embeddings,
                                                        size_t capacity, diarist_stop* stop);

/* ---- enrolled voices --------------------------------------------------------------------------
 */

/* Named voices of one embedding network (docs/voices.md). */
typedef struct diarist_voices diarist_voices;

/* One person of a library. */
typedef struct diarist_voice {
  const char* name;
  size_t sample_count; /* how often the voice was enrolled */
  double seconds;      /* of speech in all samples */
} diarist_voice;

/* A library without voices; the first one decides about the network. */
DIARIST_API diarist_status diarist_voices_create(diarist_voices** voices);
/* Reads a library's file. */
DIARIST_API diarist_status diarist_voices_load(const char* path, diarist_voices** voices);
/* Writes the file: readers see the old content or the new, never a part. */
DIARIST_API diarist_status diarist_voices_save(diarist_voices* voices, const char* path);
/* Frees a library and everything that was read from it by pointer. */
DIARIST_API diarist_status diarist_voices_destroy(diarist_voices* voices);

/* Enrols a speaker of a result, by its centroid. \param speaker index into the speakers. */
DIARIST_API diarist_status diarist_voices_add_speaker(diarist_voices* voices, const char* name,
                                                      diarist_result* result, size_t speaker);
/* Enrols a vector that the embedder made. \param seconds of speech behind it; 0: not known. */
DIARIST_API diarist_status diarist_voices_add_embedding(diarist_voices* voices, const char* name,
                                                        diarist_embedder* embedder,
                                                        const float* embedding, size_t dim,
                                                        double seconds);
/* Takes a voice out. */
DIARIST_API diarist_status diarist_voices_remove(diarist_voices* voices, const char* name);
/* Gives a voice another name, which no other may have. */
DIARIST_API diarist_status diarist_voices_rename(diarist_voices* voices, const char* name,
                                                 const char* to);
/* The voices sorted by name. The pointers are valid until the library is changed or destroyed, by
 * whichever thread. */
DIARIST_API diarist_status diarist_voices_list(diarist_voices* voices, const diarist_voice** list,
                                               size_t* count);

/* When a speaker gets the name of a voice. */
typedef struct diarist_voice_options {
  size_t struct_size;
  double threshold;   /* least score, -1 to 1; less than -1: the one measured for the network */
  double margin;      /* least distance to the score of the next voice */
  double min_seconds; /* least speech of a speaker */
} diarist_voice_options;

/* Sets the size and the defaults. \param struct_size sizeof(diarist_voice_options) */
DIARIST_API diarist_status diarist_voice_options_init(diarist_voice_options* options,
                                                      size_t struct_size);
/* A new result, which must be destroyed as well, with speakers named after voices.
 * \param options null: defaults. */
DIARIST_API diarist_status diarist_result_name_speakers(diarist_result* result,
                                                        diarist_voices* voices,
                                                        const diarist_voice_options* options,
                                                        diarist_result** named);

/* Why a speaker got the name of a voice, or did not. */
typedef enum diarist_voice_decision {
  DIARIST_VOICE_NAMED = 0,
  DIARIST_VOICE_LOW_SCORE = 1, /* no voice reaches the threshold */
  DIARIST_VOICE_AMBIGUOUS = 2, /* the next voice is closer than the margin */
  DIARIST_VOICE_TAKEN = 3,     /* another speaker is more like the same voice */
  DIARIST_VOICE_TOO_SHORT = 4, /* the speaker says too little */
  DIARIST_VOICE_NO_VECTOR = 5  /* the speaker has no vector */
} diarist_voice_decision;

/* What the comparison with voices said about a speaker. */
typedef struct diarist_speaker_voice {
  const char* speaker; /* the name before: "SPEAKER_02" */
  const char* best;    /* the voice with the best score; null: nothing was compared */
  double score;        /* -1 to 1 */
  const char* next;    /* the voice behind it; null: there is none */
  double next_score;
  int32_t decision; /* a diarist_voice_decision */
} diarist_speaker_voice;

/* One entry per speaker, in their order; none unless diarist_result_name_speakers() made the
 * result. */
DIARIST_API diarist_status diarist_result_voices(diarist_result* result,
                                                 const diarist_speaker_voice** list, size_t* count);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming, modernize-use-using) */

#endif
