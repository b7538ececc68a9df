import type { Command } from 'commander'
import type { Input } from '#lib/commands/definition.ts'
import { UsageError } from '../usage-error.ts'
import { getInputName, isArgument } from './inputs.ts'

const describeMissing = (input: Input): string =>
  isArgument(input)
    ? `error: missing required argument '${getInputName(input)}'`
    : `error: required option '${input.flag}' not specified`

/**
 * Asks for the inputs that are missing, on a terminal. Elsewhere it ends the program with the exit code of wrong usage.
 * @throws UsageError if the user cancels
 */
export const promptMissing = async (
  command: Command,
  missing: readonly Input[],
): Promise<readonly (readonly [Input, unknown])[]> => {
  const [first] = missing
  if (first && !(process.stdin.isTTY && process.stderr.isTTY)) command.error(describeMissing(first))
  const { isCancel, text } = await import('@clack/prompts')
  const answers: (readonly [Input, unknown])[] = []
  for (const input of missing) {
    const answer = await text({
      message: `${getInputName(input)}: ${input.about}`,
      output: process.stderr,
      validate: value => (value?.trim() ? undefined : 'It must not be empty.'),
    })
    if (isCancel(answer)) throw new UsageError('Cancelled; nothing was done.')
    answers.push([input, input.kind === 'list' ? answer.trim().split(/\s+/) : answer.trim()])
  }
  return answers
}
