import { Command } from 'commander'
import { diagnose } from '#lib/doctor/doctor.ts'
import type { NamedFinding } from '#lib/doctor/finding.ts'
import { readSurroundings } from '#lib/doctor/surroundings.ts'
import { formatJson, formatTable } from '../admin/text-table.ts'
import type { CommandContext } from './context.ts'

const formatFindings = (findings: readonly NamedFinding[]): string => {
  const lines = formatTable(findings.map(({ status, check, message }) => [status, check, message])).split('\n')
  return findings
    .map(({ remedy }, at) => `${lines[at]}${remedy === undefined ? '' : `\n         → ${remedy}`}`)
    .join('\n')
}

const formatSummary = (findings: readonly NamedFinding[]): string => {
  const [problems, warnings] = ['problem', 'warning'].map(
    status => findings.filter(one => one.status === status).length,
  )
  return problems === 0 && warnings === 0 ? 'Nothing is wrong.' : `Problems: ${problems}. Warnings: ${warnings}.`
}

/** `vmhost doctor`: ends with 1 if there is a problem. */
export const createDoctorCommand = ({ registerLocal: register }: CommandContext): Command => {
  const command = new Command('doctor').option('--json', 'as JSON')
  register(command, async config => {
    const findings = await diagnose(await readSurroundings(config))
    const ok = findings.every(({ status }) => status !== 'problem')
    console.log(
      command.opts()['json'] === true
        ? formatJson({ ok, checks: findings })
        : `${formatFindings(findings)}\n\n${formatSummary(findings)}`,
    )
    if (!ok) process.exitCode = 1
  })
  return command
}
