/**
 * The recorder: writes the serial output of each QEMU machine to a log of bounded size. The service starts it in the folder of the
 * machines. Like the machines, it outlives the service.
 * Arguments: its own folder, and the maximum size of a log in bytes.
 */
import { messageOf } from '#lib/errors.ts'
import { serveRecorder } from '#lib/hypervisor/qemu/recorder/server.ts'
import { getAreaLogger, openLog } from '#lib/platform/log.ts'

const [folder = '', limit = ''] = process.argv.slice(2)

const run = async (): Promise<void> => {
  // The log of the recorder may be on a full disk; the recorder must continue.
  process.stderr.on('error', () => {})
  await openLog('info')
  const log = getAreaLogger('recorder')
  try {
    await serveRecorder({ folder, limit: Number(limit), log })
  } catch (error) {
    log.error('The recorder does not start: {reason}', { reason: messageOf(error) })
    process.exit(1)
  }
}

void run()
