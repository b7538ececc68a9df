import { randomBytes } from 'node:crypto'
import { createTimeLimit } from '#lib/async/time-limit.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Agent } from './agent.ts'
import { runInGuest } from './guest-command.ts'
import { describePosixProgram } from './guest-program.ts'
import { setGuestTime } from './set-guest-time.ts'

/** Milliseconds of the script. */
const timeLimit = 30_000
/** Bytes for the random numbers of the guest. */
const seedSize = 256

/** Sets the host name $1 and the machine id $2, and mixes what it reads into the random numbers. */
const script = [
  'cat >/dev/urandom',
  'hostname "$1" || echo "$1" >/proc/sys/kernel/hostname',
  '[ ! -f /etc/hostname ] || echo "$1" >/etc/hostname',
  'for file in /etc/machine-id /var/lib/dbus/machine-id; do',
  '  [ ! -f "$file" ] || [ -L "$file" ] || echo "$2" >"$file"',
  'done',
].join('\n')

/** Makes a host name of the name of a machine. */
const toHostName = (name: string, id: string): string => {
  const label = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
  return label || `machine-${id.slice(0, 8)}`
}

/**
 * Gives the guest of a copy its own host name, machine id and random numbers, and the time of the host. Throws `upstream` if the
 * guest refuses, `timeout`, and as the agent.
 */
export const renewGuest = async (
  agent: Agent,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<void> => {
  using limit = createTimeLimit(timeLimit, `${name} did not take its host name.`)
  const command = ['/bin/sh', '-c', script, 'sh', toHostName(name, id), id.replaceAll('-', '')]
  const program = describePosixProgram({ command, input: randomBytes(seedSize) })
  const { exitCode } = await runInGuest(agent, program, { outputLimit: 0, signal: limit.signal })
  if (exitCode !== 0) throw new ServiceError('upstream', `The guest of ${name} did not take its host name.`)
  await setGuestTime(agent)
}
