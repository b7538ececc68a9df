import { readFile } from 'node:fs/promises'

/** Clock ticks per second in the files of /proc, on every architecture of Linux. */
const ticksPerSecond = 100

/** What a process has used: the CPU time of all its threads, and its resident memory in bytes. */
export interface ProcessUsage {
  readonly cpuSeconds: number
  readonly memory: number
}

/** Reads what another process has used from /proc (proc(5)). Returns undefined without such a process, and without /proc. */
export const readProcessUsage = async (pid: number): Promise<ProcessUsage | undefined> => {
  try {
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      readFile(`/proc/${pid}/status`, 'latin1'),
    ])
    // The name of the program, in parentheses, may contain blanks. The fields behind it begin with the third one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
    return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond, memory: Number(resident) * 1024 }
  } catch {
    return undefined
  }
}
