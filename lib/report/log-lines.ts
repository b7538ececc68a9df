import { readTail } from '#lib/platform/bounded-file.ts'
import { findProgram } from '#lib/hypervisor/qemu/programs.ts'
import { getLastLine, runProcess } from '#lib/platform/processes.ts'

/** Lines of the log in a report. */
const lineCount = 500

/** Bytes of the journal that are read. */
const maxSize = 4 << 20

/**
 * Returns the last lines of the service's log, not scrubbed: of `file`, else of the unit `vmhost` in systemd's journal. Without
 * either, a line that says so.
 */
export const readLogLines = async (file: string | undefined): Promise<string> => {
  if (file !== undefined) return (await readTail(file)).split('\n').slice(-lineCount).join('\n')
  const program = await findProgram('journalctl')
  if (program === undefined) return 'This host has no journal of systemd. Name the file of the log with --log-file.\n'
  const args = [
    '--unit',
    'vmhost',
    '--lines',
    String(lineCount),
    '--output',
    'short-iso-precise',
    '--no-pager',
    '--quiet',
  ]
  const { code, stdout, stderr } = await runProcess(program, args, { timeout: 30_000, cap: maxSize })
  if (code !== 0) return `The journal cannot be read: ${getLastLine(stderr)}\n`
  return stdout === '' ? 'The journal has no lines of the unit vmhost that this user may read.\n' : stdout
}
