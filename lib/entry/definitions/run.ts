import type { Command } from 'commander'
import { VmhostError } from '#lib/client/error.ts'
import type { Job } from '#lib/client/api.gen.ts'
import type { CommandDefinition, Input } from '#lib/commands/definition.ts'
import { followJob } from '../admin/follow-job.ts'
import { toJobError } from '../admin/job-failure.ts'
import { createProgress } from '../admin/job-progress.ts'
import { escapeControls } from '../admin/text-table.ts'
import { writeReply } from '../admin/write-reply.ts'
import type { Service } from '../connect/service.ts'
import { exitCodes } from '../exit-code.ts'
import { fillRequest, getMember, type OperationRequest } from './fill-request.ts'
import { getFlag, getInputName, isRequired } from './inputs.ts'
import { formatValue } from './format-value.ts'
import { type PrintOptions, printReply } from './print-reply.ts'
import { promptMissing } from './prompt.ts'

type Operation = (request: OperationRequest & { async?: true }) => Promise<unknown>

/** The operation of the client that a definition names. */
const getOperation = ({ client }: Service, { operation }: CommandDefinition): Operation => {
  const [area = '', name = ''] = operation.split('.')
  // The type of the definition says that there is one.
  return (client.api as unknown as Record<string, Record<string, Operation>>)[area]![name]!
}

/** Names the inputs of the command line in place of the members of a request that the service finds invalid. */
const nameInputs = (error: unknown, inputs: readonly Input[]): unknown => {
  if (!(error instanceof VmhostError) || error.status !== 400 || error.details.length === 0) return error
  const faults = error.details.map(({ path = '', error: fault = '' }) => {
    const input = inputs.find(({ to }) => to.replace(/^\w+\./, '') === path)
    return `${input ? getFlag(input) : path} ${fault}`
  })
  return new VmhostError(400, { message: `${faults.join('; ')}.` })
}

/** Follows a job to its end and returns the reply of the operation that it ran. Throws the error that it failed with. */
const waitForJob = async (service: Service, { id, job_operation: operation }: Job): Promise<unknown> => {
  const job = await followJob(service.client, { id, operation, isRepeatable: false }, createProgress(process.stderr))
  if (job.state === 'failed') throw toJobError(job, `The ${operation} failed.`)
  return job.result
}

/** Says on standard error that a reply is not the one that a command is for, and makes the exit code that of a failure. */
const reportFailure = (reply: unknown, [path, expected]: readonly [string, unknown]): void => {
  const value = getMember(reply, path)
  // Without the member nobody has asked for it.
  if (value === undefined || value === expected) return
  console.error(`vmhost: ${path} is ${escapeControls(formatValue(value))}`)
  process.exitCode = exitCodes.failed
}

/**
 * Calls the operation of a command and prints its reply. What is missing is asked for on a terminal; elsewhere the command ends with
 * the exit code of wrong usage.
 */
export const runDefinition = async (
  service: Service,
  command: Command,
  definition: CommandDefinition,
  present: readonly (readonly [Input, unknown])[],
): Promise<void> => {
  const { inputs = [], asJob, isFile } = definition
  const given = [...present]
  const request = await fillRequest(definition, given)
  const missing = inputs.filter(input => isRequired(input) && getMember(request, input.to) === undefined)
  if (missing.length > 0) {
    const isSecret = ({ kind }: Input): boolean => kind === 'secret'
    const asked = await promptMissing(
      command,
      missing.filter(input => !isSecret(input)),
    )
    given.push(...asked, ...missing.filter(isSecret).map(input => [input, true] as const))
    Object.assign(request, await fillRequest(definition, given))
  }
  const operation = getOperation(service, definition)
  const reply = await operation({ ...request, ...(asJob && { async: true }) }).catch((error: unknown) => {
    throw nameInputs(error, inputs)
  })
  if (isFile) return writeReply(reply, command.opts<{ output?: string }>().output)
  // The client knows the reply of an operation as a job.
  const result = asJob ? await waitForJob(service, reply as Job) : reply
  const words = given.map(([input, value]) => [getInputName(input), String(value)])
  printReply(definition, result, Object.fromEntries(words), command.opts<PrintOptions>())
  if (definition.succeedsIf) reportFailure(result, definition.succeedsIf)
}
