import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, hostname, networkInterfaces, totalmem, userInfo } from 'node:os'

/** What is fixed about the computer that the service runs on. */
export interface HostFacts {
  readonly name: string
  /** A UUID that stays the same for this computer, made from its machine id, which itself stays private. */
  readonly id: string
  /** The first address that is not loopback, or empty. */
  readonly externalAddress: string
  /** The operating system's account that the service runs as. */
  readonly user: string
  readonly cpus: number
  /** MB. */
  readonly memory: number
}

const machineIdFiles = ['/etc/machine-id', '/var/lib/dbus/machine-id']

const readMachineId = (): string => {
  const file = machineIdFiles.find(existsSync)
  return (file && readFileSync(file, 'utf8').trim()) || hostname()
}

/** A UUID (version 8, RFC 9562) made from a text. */
const deriveUuid = (text: string): string => {
  const hex = createHash('sha256').update(`vmhost ${text}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Reads the facts; they do not change while the service runs. */
export const readHostFacts = (): HostFacts => ({
  name: hostname(),
  id: deriveUuid(readMachineId()),
  externalAddress:
    Object.values(networkInterfaces())
      .flat()
      .find(address => address && !address.internal && address.family === 'IPv4')?.address ?? '',
  user: userInfo().username,
  cpus: availableParallelism(),
  memory: Math.floor(totalmem() / (1 << 20)),
})
