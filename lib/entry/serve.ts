import type { Config } from '#lib/compose/config.ts'
import { closeInherited } from '#lib/platform/inherited.ts'
import { leave } from '#lib/platform/leave.ts'
import { logOf, openLog } from '#lib/platform/log.ts'
import { withFullDiskError } from '#lib/storage/full-disk.ts'
import { openHost, type RunningHost } from '#lib/compose/host.ts'

const showPassword = (password: string): void => {
  process.stdout.write(`
The password of root is ${password}
vmhost prints it only this once. Save it, or set VMHOST_ROOT_PASSWORD before a start.
`)
}

const welcome = ({ url, driver, certificate }: RunningHost): string => {
  const curl = `curl -s${certificate ? ` --cacert '${certificate}'` : ''}`
  return `
vmhost serves ${url} on ${driver}

Sign in:
  TOKEN=$(${curl} ${url}/api/v1/auth/token -d '{"email":"root","password":"PASSWORD"}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

Then try:
  ${curl} -H "Authorization: Bearer $TOKEN" ${url}/api/v1/machines
  ${curl} -H "Authorization: Bearer $TOKEN" -X PUT ${url}/api/v1/machines/demo/start
  ${curl} -H "Authorization: Bearer $TOKEN" ${url}/api/v1/machines/demo/status
`
}

/** Milliseconds for what the service has closed to be gone. */
const leftOpen = 1_000
/** Milliseconds from the signal to the end, whatever is under way: more than all parts have together. */
const atMost = 19_000

/** Settles at the first SIGTERM or SIGINT. The system's own handling of a second one ends the process at once. */
const askedToEnd = (): Promise<void> =>
  new Promise(resolve => {
    const signals = ['SIGTERM', 'SIGINT'] as const
    const heard = (): void => {
      for (const signal of signals) process.off(signal, heard)
      const giveUp = (): void => {
        logOf('entry').error('The service did not end in {seconds} seconds and is cut off.', { seconds: atMost / 1000 })
        leave(1)
      }
      setTimeout(giveUp, atMost).unref()
      resolve()
    }
    for (const signal of signals) process.on(signal, heard)
  })

/** Runs the service until SIGTERM or SIGINT, then ends it in order, within 20 seconds. A second signal ends it at once. */
export const serve = async (config: Config, entry: URL): Promise<void> => {
  closeInherited()
  await openLog(config.log)
  const asked = askedToEnd()
  const host = await withFullDiskError(config.state, () => openHost(config, entry, showPassword))
  // Of a service without a terminal it means: read again. With one it means that the terminal is gone.
  if (!process.stdout.isTTY) process.on('SIGHUP', () => void host.reload())
  process.stdout.write(welcome(host))
  await asked
  if (!(await host.end())) leave(1)
  // What could be closed is, and is on the disk: what somebody else does not end is no reason to stay.
  setTimeout(() => leave(0), leftOpen).unref()
}
