/** The family of the guest's operating system, which decides how programs are started and ended. */
export type GuestSystem = 'posix' | 'windows'

/** A program as the agent starts it. */
export interface GuestProgram {
  readonly system: GuestSystem
  readonly path: string
  readonly args: readonly string[]
  /** All variables of its environment, as NAME=VALUE. Undefined for the environment of the agent. */
  readonly environment?: readonly string[] | undefined
  /** What it reads from its standard input. Undefined for nothing. */
  readonly input?: Buffer | undefined
}

/** The environment of a program in a POSIX guest, unless the caller sets these variables: the agent may have no PATH. */
const baseEnvironment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' }

/**
 * Runs "$3…" in the folder $1 as the user $2 (empty: as the agent), in a session of its own where the guest has `setsid`, so that
 * the whole of it can be killed.
 */
const runScript = [
  'cd "$1" || exit 126; user=$2; shift 2',
  'if [ -n "$user" ]; then set -- su -s /bin/sh -c \'exec "$@"\' -- "$user" sh "$@"; fi',
  'command -v setsid >/dev/null 2>&1 && exec setsid "$@"',
  'exec "$@"',
].join('\n')

/**
 * Kills the process $1, if it is still a child of the agent, with its children, and then its session. A process that is stopped
 * first starts no more children.
 */
const killScript = [
  'end() {',
  '  kill -STOP "$1" 2>/dev/null',
  '  for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do end "$child"; done',
  '  kill -KILL "$1" 2>/dev/null',
  '}',
  'grep -q "^PPid:[[:space:]]*$PPID$" "/proc/$1/status" 2>/dev/null && end "$1"',
  // Not every shell takes the end of options here.
  'kill -9 "-$1" 2>/dev/null',
  ':',
].join('\n')

interface PosixProgram {
  readonly command: readonly string[]
  readonly folder?: string | undefined
  readonly user?: string | undefined
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly input?: Buffer | undefined
}

/** Describes a program of a POSIX guest. Nothing of it is in a shell's text, and its environment is in no list of arguments. */
export const describePosixProgram = ({ command, folder, user, environment, input }: PosixProgram): GuestProgram => ({
  system: 'posix',
  path: '/bin/sh',
  args: ['-c', runScript, 'sh', folder ?? '/', user ?? '', ...command],
  environment: Object.entries({ ...baseEnvironment, ...environment }).map(([name, value]) => `${name}=${value}`),
  input,
})

/** Describes the program that kills another one, by the id of its process, with its children. */
export const describeKill = (system: GuestSystem, pid: number): GuestProgram =>
  system === 'windows'
    ? { system, path: 'taskkill.exe', args: ['/T', '/F', '/PID', String(pid)] }
    : { system, path: '/bin/sh', args: ['-c', killScript, 'sh', String(pid)] }
