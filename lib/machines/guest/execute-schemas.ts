import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'

/** A text that a program can get: programs end their texts with the character NUL. */
export const ProgramText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[^\0]*$/, 'must not contain NUL')

/** An absolute path in a guest, also one of Windows. */
export const GuestPath = ProgramText(4096).regex(/^(\/|[A-Za-z]:[\\/])/, 'must be an absolute path of the guest')

/** The most bytes of each output in a reply: both outputs fit into a reply that a control passes on. */
const maxOutput = 1_048_576
/** The most seconds of a command. */
const maxTimeout = 86_400

export const ExecuteInMachine = knownObject('a command', {
  command: ProgramText(32_768)
    .min(1)
    .meta({ description: 'A line for the shell of the guest; with `args`, a program' }),
  args: z.array(ProgramText(32_768)).max(256).optional().meta({ description: 'The arguments of the program' }),
  environment_variables: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), ProgramText(32_768), {
      error: issue =>
        issue.code === 'invalid_key'
          ? 'must be a name of letters, digits and _, not beginning with a digit'
          : undefined,
    })
    .optional()
    .meta({ description: 'Variables of its environment, beside PATH and HOME' }),
  user: z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$/, 'must be the name of a user of the guest')
    .optional()
    .meta({ description: 'The user of the guest who runs it; left out for the account of the agent, which is root' }),
  working_directory: GuestPath.optional().meta({ description: 'An absolute path of the guest; / when left out' }),
  input: z.string().max(262_144).optional().meta({ description: 'What it reads from its standard input' }),
  timeout: z
    .int()
    .min(1)
    .max(maxTimeout)
    .default(180)
    .meta({ description: 'Seconds after which it is killed with all that it has started' }),
  max_output: z
    .int()
    .min(0)
    .max(maxOutput)
    .default(65_536)
    .meta({ description: 'The most bytes of each output that the reply has' }),
  use_sudo: z.boolean().default(false).meta({ description: 'Commands without a `user` run as root in any case' }),
  use_ssh: z
    .literal(false, { error: 'must be false or left out: commands run by the guest agent' })
    .optional()
    .meta({ description: 'Only false: commands run by the guest agent' }),
})
export type ExecuteInMachine = z.infer<typeof ExecuteInMachine>

export const ExecuteResult = z
  .object({
    stdout: z.string().meta({ description: 'What it has written to its standard output' }),
    stderr: z.string().meta({ description: 'What it has written to its standard error' }),
    exit_code: z.int().meta({ description: '128 and the number of the signal after a signal; -1 after the timeout' }),
    signal: z.int().optional().meta({ description: 'The signal that has ended the command' }),
    stdout_truncated: z.boolean().meta({ description: 'Whether it has written more than max_output to it' }),
    stderr_truncated: z.boolean().meta({ description: 'Whether it has written more than max_output to it' }),
    timed_out: z.boolean().meta({ description: 'Whether it was killed after the timeout' }),
    error: z.string().optional().meta({ description: 'Why the command failed; left out when it succeeded' }),
  })
  .meta({ id: 'MachineExecuteResult' })
export type ExecuteResult = z.infer<typeof ExecuteResult>
