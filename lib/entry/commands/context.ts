import type { Command, OptionValues } from 'commander'
import type { ProgramParts } from '#lib/platform/program-parts.ts'
import { takeConnection } from '../admin/read-connection.ts'
import { addSettingOptions, loadConfig, publicSettings } from '../admin/setting-options.ts'
import type { ServiceNeeds } from '../connect/service.ts'
import type { CommandWork, RegisterCommand, RegisterLocalCommand } from './invocation.ts'

/** What the commands of the program have in common. */
export interface CommandContext {
  readonly parts: ProgramParts
  /** The connection of the environment, which is the default of commands that take one. */
  readonly connection: string | undefined
  /** Creates what registers commands that call a service. `offline` is what this process serves if no service runs. */
  readonly createRegister: (offline?: ServiceNeeds['offline']) => RegisterCommand
  readonly registerLocal: RegisterLocalCommand
}

// If no service runs, the command works in this process, with the rules of these settings.
const serviceSettings = publicSettings.filter(key => /^(log|password_|lockout_|token_|audit_)/.test(key))

const addTargetOptions = (command: Command): Command =>
  addSettingOptions(
    command
      .option('--host <address>', 'address of another service that you have signed in to with vmhost login')
      .option('--context <name>', 'name of that service in vmhost context list; local is the service of this host'),
    ['state'],
    serviceSettings,
  )

const registerLocal: RegisterLocalCommand = (command, work) =>
  addSettingOptions(command, ['state', 'log']).action(async () => {
    await (await import('#lib/platform/log.ts')).openLog('warning')
    await work(loadConfig(command.opts()), command.args)
  })

/** Creates the context of a program. Takes the secrets of the command line out of the environment. */
export const createContext = (parts: ProgramParts): CommandContext => ({
  parts,
  connection: takeConnection(),
  createRegister:
    offline =>
    <Options extends OptionValues>(command: Command, work: CommandWork<Options>) =>
      addTargetOptions(command).action(async () => {
        const { withService } = await import('../connect/service.ts')
        const options = command.opts<Options>()
        await withService(options, { startWorker: parts.startWorker, offline }, service =>
          work(service, { args: command.args, options }),
        )
      }),
  registerLocal,
})
