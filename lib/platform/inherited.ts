import { closeSync, readdirSync, readFileSync } from 'node:fs'

const closesOnExec = 0o2000000

/** The flags of an open file of this process, as `open(2)` takes them. */
const readFlags = (descriptor: number): number => {
  const information = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')
  return Number.parseInt(/^flags:\s+(\d+)$/m.exec(information)?.[1] ?? '0', 8)
}

/**
 * Closes what this process was started with beside its three standard files and would hand on to each program that it starts:
 * a QEMU would keep it for as long as it lives. Node marks its own files as closed for others, but of those that it inherits
 * only the first (`uv_disable_stdio_inheritance`), and offers no way to mark more. Of Linux alone, where a process can see
 * which of its files are handed on.
 */
export const closeInherited = (): void => {
  if (process.platform !== 'linux') return
  for (const descriptor of readdirSync('/proc/self/fd').map(Number)) {
    if (descriptor <= 2) continue
    try {
      if ((readFlags(descriptor) & closesOnExec) === 0) closeSync(descriptor)
    } catch {
      // The list itself was open while it was read.
    }
  }
}
