import { createServer } from 'node:net'
import { isSystemError } from '#lib/platform/files.ts'
import { describeSystemError } from '#lib/platform/system-errors.ts'
import { createOk, createProblem, type Finding } from '../finding.ts'
import type { Surroundings } from '../surroundings.ts'

/** The port that a URL means without naming it. */
const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

const tryListening = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()))
  })

/** Checks that the service can listen on the address of the settings. */
export const checkListenAddress = async ({ settings, service }: Surroundings): Promise<Finding> => {
  const { listen } = settings
  if (service.kind !== 'stopped') return createOk('The service has its address.')
  const port = Number(listen.port || defaultPorts[listen.protocol])
  try {
    await tryListening(listen.hostname.replace(/^\[(.*)\]$/, '$1'), port)
    return createOk(`${listen.host} is free.`)
  } catch (error) {
    if (isSystemError(error, 'EADDRINUSE'))
      return createProblem(
        `Another program listens on the port ${port}. End it, or set listen to another port.`,
        `ss --listening --tcp --processes --numeric 'sport = :${port}'`,
      )
    if (isSystemError(error, 'EACCES'))
      return createProblem(
        `The port ${port} is for root alone. Use a port from 1024 on, or allow lower ones to all users.`,
        `sysctl --write net.ipv4.ip_unprivileged_port_start=${port}`,
      )
    if (isSystemError(error, 'EADDRNOTAVAIL'))
      return createProblem(
        `This host does not have the address ${listen.hostname} of the setting listen. These are its addresses:`,
        'ip -brief address',
      )
    return createProblem(`The service cannot listen on ${listen.host}: ${describeSystemError(error)}.`)
  }
}
