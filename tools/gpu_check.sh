#!/usr/bin/env bash
# shellcheck disable=SC2317  # sections are called by name
# Checks and figures of the CUDA backend on a machine with a GPU, with one summary at the end.
#
# usage: tools/gpu_check.sh [SECTION...]
#
#   tests      the cuda_*_test programs; a missing GPU or cuDNN is a failure
#   sanitizer  compute-sanitizer (DIARIST_SANITIZERS: memcheck racecheck synccheck) on tests of small
#              shapes and on whole chunks and windows
#   torch      every layer against torch in double precision
#   bench      diarist bench embed: latency, throughput, memory (all precisions and families)
#   profile    time of every launch beside its floor
#   explore    every algorithm for every shape; fused against plain
#   pipeline   whole recordings: speed, idle share, energy; process start to RTTM; the same bytes alone,
#              in a batch and in reverse order (tools/gpu_pipeline.py)
#   (none)     tests torch bench
#
# Programs are taken from .carry/ when it holds any (a build that came along, with its shared
# libraries beside them or in .carry/lib; archives that tools/gpu_pack.py made are unpacked first),
# else from DIARIST_BUILD (build/cuda), which is configured and built first when there
# is nvcc. Results go to OUT (build/gpu_check): one file per step, summary.txt, clocks.csv.
#
# Settings: DIARIST_SECONDS (5) of load behind each figure; DIARIST_STEP_LIMIT (240) seconds per
# step; DIARIST_TEST_FILTER and DIARIST_SANITIZER_FILTER, GoogleTest filters of the two test
# sections; DIARIST_GPU_ARCH (90) to build for; for `pipeline` DIARIST_MODELS, DIARIST_REPLAY,
# DIARIST_HOURS_SOURCES where nothing was carried, and DIARIST_PIPELINE, options of gpu_pipeline.py.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 1

out=${OUT:-build/gpu_check}
build=${DIARIST_BUILD:-build/cuda}
seconds=${DIARIST_SECONDS:-5}
limit=${DIARIST_STEP_LIMIT:-240}
tests=(cuda_kernels_test cuda_library_test cuda_embedding_test cuda_behaviour_test
  cuda_front_test cuda_segmentation_test cuda_campplus_test cuda_blocks_test embedder_parity_test
  pipeline_parity_test)
work=$(mktemp -d)
watcher=
mkdir -p "$out"
summary=$out/summary.txt
: >"$summary"

clean_up() {
  [ -z "$watcher" ] || kill "$watcher" 2>/dev/null
  rm -rf "$work"
}
trap clean_up EXIT

note() {
  printf '%s\n' "$*" | tee -a "$summary"
}

# step NAME COMMAND...: output to OUT/NAME.txt, a line for the summary.
failed=0
step() {
  local name=$1 log=$out/$1.txt begin=$SECONDS status=0
  shift
  timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null || status=$?
  local spent=$((SECONDS - begin))
  case $status in
    0) note "$(printf '%-34s passed  %4d s' "$name" "$spent")" ;;
    77) note "$(printf '%-34s SKIPPED %4d s  %s' "$name" "$spent" "$(tail -n 1 "$log")")" ;;
    124 | 137)
      failed=1
      note "$(printf '%-34s STOPPED after %d s' "$name" "$limit")"
      ;;
    *)
      failed=1
      note "$(printf '%-34s FAILED  %4d s  (code %d)' "$name" "$spent" "$status")"
      tail -n 15 "$log" | sed 's/^/    /' | tee -a "$summary"
      ;;
  esac
  return "$status"
}

# Path of a built program; empty when there is none.
program() {
  local folder
  for folder in .carry "$build/bin"; do
    if [ -f "$folder/$1" ]; then
      # Carried files may have lost their mode.
      chmod +x "$folder/$1" 2>/dev/null
      printf '%s\n' "$folder/$1"
      return
    fi
    [ "$folder" != .carry ] || ! carried || return
  done
}

carried() {
  [ -n "$(find .carry -maxdepth 1 \( -name 'cuda_*' -o -name diarist \) 2>/dev/null | head -n 1)" ]
}

build_programs() {
  command -v nvcc >/dev/null || PATH=$PATH:/usr/local/cuda/bin
  if ! command -v nvcc >/dev/null; then
    note 'build: no nvcc here; taking what is in '"$build"
    return
  fi
  step configure cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDIARIST_CUDA=ON \
    -DDIARIST_CUDA_ARCHITECTURES="${DIARIST_GPU_ARCH:-90}" || return
  limit=3600 step build ninja -C "$build" diarist_cli "${tests[@]}" cuda_dump_embedding
}

# Folder of the cuDNN that came with Python's torch, unless the loader knows one.
find_cudnn() {
  ldconfig -p 2>/dev/null | grep -q 'libcudnn\.so\.9' && return
  local folder
  folder=$(python3 -c 'import nvidia.cudnn as c; print(list(c.__path__)[0] + "/lib")' 2>/dev/null)
  [ -d "$folder" ] || return 0
  ours=(env "LD_LIBRARY_PATH=${carry:+$carry:}$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
}

# Clock, power and temperature, twice a second, beside all that follows.
watch_clocks() {
  command -v nvidia-smi >/dev/null || return 0
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit \
    --format=csv | tee -a "$summary"
  nvidia-smi --query-gpu=timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu,utilization.gpu \
    --format=csv,nounits -lms 500 >"$out/clocks.csv" 2>/dev/null &
  watcher=$!
}

clock_line() {
  [ -s "$out/clocks.csv" ] || return 0
  awk -F', *' 'NR > 1 && $6 > 50 {
      n++; clock += $2; power += $4
      if (n == 1 || $2 < low) low = $2
      if ($2 > high) high = $2
    }
    END {
      if (n) printf "clocks while busy: %d to %d MHz, mean %.0f; power mean %.0f W (%d samples)\n",
                    low, high, clock / n, power / n, n
    }' "$out/clocks.csv" | tee -a "$summary"
}

section_tests() {
  export DIARIST_REQUIRE_GPU=1 DIARIST_REQUIRE_CUDNN=1
  local name path filter
  for name in "${tests[@]}"; do
    path=$(program "$name")
    # Rates are the matter of `bench`; of the public object's devices only GPUs.
    filter='-*Rate*:*Times*'
    case $name in
      embedder_parity_test) filter='*cuda*' ;;
      pipeline_parity_test) filter='*cuda*:*Gpu*' ;;
    esac
    if [ -z "$path" ]; then
      note "$(printf '%-34s is not here' "$name")"
      continue
    fi
    step "$name" "${ours[@]}" "$path" --gtest_filter="${DIARIST_TEST_FILTER:-$filter}"
    sed -n 's/^\[  PASSED  \]/    passed:/p; s/^\[  SKIPPED \] \([0-9]* test\)/    skipped: \1/p' \
      "$out/$name.txt" | tee -a "$summary"
  done
}

# cuDNN's own kernels are left out: they are not ours to mend, and slow under the tools.
section_sanitizer() {
  command -v compute-sanitizer >/dev/null || PATH=$PATH:/usr/local/cuda/bin
  if ! command -v compute-sanitizer >/dev/null; then
    note 'sanitizer: no compute-sanitizer here'
    failed=1
    return
  fi
  export DIARIST_REQUIRE_GPU=1
  local tool name path filter
  for name in cuda_kernels_test cuda_library_test cuda_embedding_test cuda_front_test \
    cuda_segmentation_test cuda_campplus_test cuda_blocks_test; do
    path=$(program "$name")
    [ -n "$path" ] || continue
    case $name in
      cuda_library_test) filter='RangeScan.*:Epilogue.*' ;;
      cuda_embedding_test) filter='*BatchAndPositionDoNotMatter*' ;;
      cuda_front_test) filter='Kernels/*' ;;
      cuda_segmentation_test) filter='LstmLayers.KeepToTheReference:Segmentation.EveryTap*' ;;
      cuda_campplus_test) filter='*EveryValueEqualsTheReference*:*ManyShortItems*' ;;
      cuda_blocks_test) filter='CudaBlocks.*' ;;
      *) filter='-ConvTimes.*' ;;
    esac
    for tool in ${DIARIST_SANITIZERS:-memcheck racecheck synccheck}; do
      step "$tool-$name" "${ours[@]}" compute-sanitizer --tool "$tool" --error-exitcode 9 \
        "$path" --gtest_filter="${DIARIST_SANITIZER_FILTER:-$filter}"
      grep -h 'SUMMARY' "$out/$tool-$name.txt" | sed 's/^/    /' | tee -a "$summary"
    done
  done
}

section_torch() {
  local dump
  dump=$(program cuda_dump_embedding)
  if [ -z "$dump" ]; then
    note 'torch: cuda_dump_embedding is not here'
    failed=1
    return
  fi
  step dump "${ours[@]}" "$dump" "$work/dump" 2 fast/any exact/any fast/portable exact/portable exact/fp32
  step dump-library "${ours[@]}" "$dump" "$work/dump" 2 fast/library exact/library tf32/library
  step torch-check python3 tests/parity/cuda_torch/torch_check.py "$work/dump"
  grep -hE '^[a-z0-9]+_[a-z0-9]+$|worst|passed|FAILED|dumps keep' "$out/torch-check.txt" |
    sed 's/^/    /' | tee -a "$summary"
}

# bench NAME ARGUMENTS...: a table into the summary.
bench() {
  local name=$1 path
  shift
  path=$(program diarist)
  if [ -z "$path" ] || ! "${ours[@]}" "$path" bench embed --help >/dev/null 2>&1; then
    note "$(printf '%-34s the program has no bench embed' "$name")"
    return
  fi
  step "$name" "${ours[@]}" "$path" bench embed --device cuda "$@" && cat "$out/$name.txt" >>"$summary"
}

section_bench() {
  bench bench-fast --batch 1,32,128,132 --precision fast --seconds "$seconds"
  bench bench-exact --batch 1,32,128 --precision exact --seconds "$seconds"
  bench bench-portable --batch 1,32,128 --precision fast,exact --family portable --no-check \
    --seconds "$seconds"
  bench bench-library --batch 1,32,128 --precision fast,exact,tf32 --family library --no-check \
    --seconds "$seconds"
}

section_profile() {
  bench profile-fast-128 --profile --batch 128 --precision fast --seconds "$seconds"
  bench profile-exact-128 --profile --batch 128 --precision exact --seconds "$seconds"
  bench profile-fast-1 --profile --batch 1 --precision fast --seconds "$seconds"
  bench profile-portable-128 --profile --batch 128 --precision fast --family portable \
    --seconds "$seconds"
}

section_explore() {
  bench algorithms-fast --algorithms --batch 128 --precision fast --seconds 0.2
  bench algorithms-exact --algorithms --batch 128 --precision exact --seconds 0.2
  bench fusion --fusion --batch 128 --precision fast --seconds 1
}

# What tools/gpu_pack.py packed, unpacked once.
unpack() {
  local pack
  for pack in .carry/*.tar.xz; do
    [ -e "$pack" ] || return 0
    [ .carry/.unpacked -nt "$pack" ] && continue
    step "unpack-$(basename "$pack" .tar.xz)" python3 -c \
      'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(".carry", filter="data")' "$pack" ||
      return
  done
  touch .carry/.unpacked
}

# The bundle community-1 out of the generator of test weights that came along.
make_standin() {
  local path=$1 models=$2 weights=$work/standin_resnet34.safetensors
  [ -f .carry/standin/make_standin.py ] && [ ! -e "$models/community-1" ] || return 0
  step standin python3 .carry/standin/make_standin.py "$weights" &&
    step import "${ours[@]}" "$path" models import "$weights" \
      "$models/open/segmentation.safetensors" --plda .carry/standin/plda --models "$models" \
      --allow-unknown-weights
}

section_pipeline() {
  local path models=${DIARIST_MODELS:-.cache/models} sources=() more=() status=0
  path=$(program diarist)
  [ ! -d .carry/models ] || models=.carry/models
  [ ! -d .carry/replay ] || DIARIST_REPLAY=.carry/replay
  [ ! -f .carry/hours.npz ] || DIARIST_HOURS_SOURCES=.carry/hours.npz
  read -ra sources <<<"${DIARIST_HOURS_SOURCES:-}"
  read -ra more <<<"${DIARIST_PIPELINE:-}"
  if [ -z "$path" ] || [ ${#sources[@]} = 0 ]; then
    note 'pipeline: needs the program, and recordings in .carry/hours.npz or DIARIST_HOURS_SOURCES'
    failed=1
    return
  fi
  make_standin "$path" "$models"
  [ -z "${DIARIST_REPLAY:-}" ] || more=(--replay "$DIARIST_REPLAY" "${more[@]}")
  python3 tools/gpu_pipeline.py --diarist "$path" --library-path "$carry" --models "$models" \
    --sources "${sources[@]}" --out "$out" "${more[@]}" 2>&1 | tee -a "$summary"
  status=${PIPESTATUS[0]}
  [ "$status" = 0 ] || failed=1
}

[ $# -gt 0 ] || set -- tests torch bench
for section in "$@"; do
  case $section in
    tests | sanitizer | torch | bench | profile | explore | pipeline) ;;
    *)
      printf 'gpu_check: no section %s; see the head of the script\n' "$section" >&2
      exit 2
      ;;
  esac
done

# How programs of ours are started. Carried libraries are for them alone: Python and the tools of the
# machine have their own.
ours=(env) carry=
unpack
if carried; then
  carry=$PWD/.carry:$PWD/.carry/lib
  ours=(env "LD_LIBRARY_PATH=$carry${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
else
  build_programs
fi
find_cudnn
watch_clocks
for section in "$@"; do
  note "== $section ($SECONDS s so far)"
  "section_$section"
done
clock_line
note "$([ "$failed" = 0 ] && echo 'everything passed' || echo 'SOMETHING FAILED'), $SECONDS s"
exit "$failed"
