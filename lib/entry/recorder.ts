/**
 * The recorder: keeps what the guests of QEMU machines say on their serial lines, each in a log of bounded size. It is
 * started by the service in the folder of the machines, and outlives it as they do.
 * Arguments: its own folder, and the bytes that a log may have.
 */
import { messageOf } from '#lib/errors.ts'
import { serveRecorder } from '#lib/hypervisor/qemu/recorder/server.ts'
import { logOf, openLog } from '#lib/platform/log.ts'

const [folder = '', limit = ''] = process.argv.slice(2)

// Its log may be on the disk that is full.
process.stderr.on('error', () => {})
await openLog('info')
const log = logOf('recorder')
try {
  await serveRecorder({ folder, limit: Number(limit), log })
} catch (error) {
  log.error('The recorder does not start: {reason}', { reason: messageOf(error) })
  process.exit(1)
}
