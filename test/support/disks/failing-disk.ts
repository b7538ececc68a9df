import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A library that makes calls of the operating system fail, for files whose names end in what the file FAULTS says. */
const source = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* FAULTS holds: CALL SUFFIX TIMES. Each failure takes one off. */
static int fails(const char *call, int fd) {
  const char *faults = getenv("FAULTS");
  FILE *file = faults ? fopen(faults, "r+") : NULL;
  if (!file) return 0;
  char what[32], suffix[64], link[64], path[4096];
  int times = 0, failed = 0;
  if (fscanf(file, "%31s %63s %d", what, suffix, &times) == 3 && times > 0 && strcmp(what, call) == 0) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
      path[length] = 0;
      size_t end = strlen(suffix);
      if ((size_t)length >= end && strcmp(path + length - end, suffix) == 0) {
        failed = 1;
        rewind(file);
        fprintf(file, "%s %s %d      ", what, suffix, times - 1);
      }
    }
  }
  fclose(file);
  return failed;
}

#define FAIL(call, fd) if (fails(call, fd)) { errno = EIO; return -1; }

int fsync(int fd) {
  FAIL("sync", fd)
  static int (*real)(int); if (!real) real = dlsym(RTLD_NEXT, "fsync");
  return real(fd);
}
int fdatasync(int fd) {
  FAIL("sync", fd)
  static int (*real)(int); if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
  return real(fd);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  FAIL("write", fd)
  static ssize_t (*real)(int, const void *, size_t, off64_t); if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
  return real(fd, bytes, count, at);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return pwrite64(fd, bytes, count, at); }
`

/** Builds the library in a folder; undefined where there is no compiler, or no Linux. */
export const buildFaults = (folder: string): string | undefined => {
  if (process.platform !== 'linux') return undefined
  const library = join(folder, 'faults.so')
  writeFileSync(join(folder, 'faults.c'), source)
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(folder, 'faults.c'), '-ldl'], {
      stdio: 'ignore',
    })
    return library
  } catch {
    return undefined
  }
}

/** Runs a program of the tests on a disk that fails as the file `faults` says; gives what it printed. */
export const runWithFaults = async (
  library: string,
  faults: string,
  program: string,
  args: readonly string[],
): Promise<string> => {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], LD_PRELOAD: library, FAULTS: faults },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => void (output += text.toString()))
  const code = await new Promise<number | null>(settle => child.once('close', settle))
  if (code !== 0) throw new Error(`it ended with ${code}: ${output}`)
  return output
}
