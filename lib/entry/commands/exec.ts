import { Command } from 'commander'
import type { MachineExecuteResult } from '#lib/client/api.gen.ts'
import type { Input } from '#lib/commands/definition.ts'
import { readValue } from '../definitions/read-value.ts'
import { exitCodes } from '../exit-code.ts'
import type { CommandContext } from './context.ts'
import { collectValues } from './invocation.ts'

interface Options {
  readonly user?: string
  readonly workdir?: string
  readonly env: readonly string[]
  readonly timeout?: string
  readonly input?: string
}

const inputs = {
  env: { flag: '--env', kind: 'pairs', to: 'body.environment_variables', about: '' },
  timeout: { flag: '--timeout', kind: 'number', to: 'body.timeout', about: '' },
  input: { flag: '--input', kind: 'text-file', to: 'body.input', about: '' },
} satisfies Record<string, Input>

const help = `
One word is a line for the shell of the guest; several are a program with its arguments. For example:
  vmhost exec web 'journalctl -b | tail'
  vmhost exec web systemctl restart nginx
The exit code is that of the command in the guest.`

/** Passes on what a command of a guest has written, and its exit code. */
const passOn = (result: MachineExecuteResult): void => {
  process.stdout.write(result.stdout)
  process.stderr.write(result.stderr)
  const hints = [
    result.timed_out && 'The time was over, and the command was killed.',
    result.stdout_truncated && 'Its output was longer; what is shown is the beginning.',
    result.stderr_truncated && 'What it wrote to standard error was longer; what is shown is the beginning.',
  ]
  for (const hint of hints) if (hint !== false) console.error(`vmhost: ${hint}`)
  // It is -1 after the timeout, which is no exit code of a process.
  process.exitCode = result.exit_code < 0 ? exitCodes.failed : result.exit_code
}

/** `vmhost exec` */
export const createExecCommand = ({ createRegister }: CommandContext): Command => {
  const command = new Command('exec')
    .argument('<machine>', 'name or id of the machine')
    .argument('<command...>', 'command of the guest')
    .option('--user <name>', 'user of the guest; default: the account of the agent, which is root')
    .option('--workdir <path>', 'folder of the guest')
    .option('--env <name=value>', 'variable of its environment; repeatable', collectValues, [])
    .option('--timeout <seconds>', 'time after which it is killed')
    .option('--input <file>', 'what it reads from its standard input; - is that of this command')
    // Options after the name of the machine are those of the command in the guest.
    .passThroughOptions()
    .addHelpText('after', help)
  createRegister()<Options>(command, async ({ client }, { args: [machine = '', ...words], options }) => {
    const { user, workdir, env, timeout, input } = options
    const [line = '', ...args] = words[0] === '--' ? words.slice(1) : words
    const body = {
      command: line,
      ...(args.length > 0 && { args }),
      user,
      working_directory: workdir,
      environment_variables: (await readValue(inputs.env, env)) as Record<string, string>,
      ...(timeout !== undefined && { timeout: (await readValue(inputs.timeout, timeout)) as number }),
      ...(input !== undefined && { input: (await readValue(inputs.input, input)) as string }),
    }
    passOn(await client.api.machines.execute({ params: { id: machine }, body }))
  })
  return command
}
