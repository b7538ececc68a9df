import { Command } from 'commander'
import type { UserRecord } from '#lib/auth/user-schemas.ts'
import type { Config } from '#lib/compose/config.ts'
import { characterKindNames, createPasswordRules } from '#lib/auth/password-policy.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { readEmail } from '../admin/read-email.ts'
import { readPassword } from '../admin/read-password.ts'
import { formatJson, formatTable } from '../admin/text-table.ts'
import { users as group } from '#lib/commands/identity.ts'
import { createGroupCommand } from '../definitions/create-commands.ts'
import type { CommandContext } from './context.ts'
import { loadConfig } from '../admin/setting-options.ts'
import { collectValues } from './invocation.ts'

interface GrantOptions {
  readonly role: readonly string[]
  readonly claim: readonly string[]
}

interface AddOptions extends GrantOptions {
  readonly email: string
  readonly name?: string
  readonly superUser?: true
  readonly generate?: true
  /** False with --no-password. */
  readonly password: boolean
}

const addGrantOptions = (command: Command): Command =>
  command
    .option('--role <name>', 'role; repeat the option for several', collectValues, [])
    .option('--claim <name>', 'claim; repeat the option for several', collectValues, [])

/** Makes a command refuse a call that names neither a role nor a claim, before it asks the service. */
const requireGrant = (command: Command): Command =>
  addGrantOptions(command).hook('preAction', called => {
    const { role, claim } = called.opts<GrantOptions>()
    if (role.length + claim.length === 0) called.error('error: name what to change with --role or --claim')
  })

const toRow = (user: UserRecord): readonly string[] => [
  user.username,
  user.email,
  user.name,
  user.roles.join(' '),
  user.locked_until ? `locked until ${user.locked_until}` : '',
]

/** `vmhost users …` */
export const createUsersCommand = (context: CommandContext): Command => {
  const register = context.createRegister('identity')
  const users = new Command('users')
  /** Reads or generates the password. `show` prints a generated one; call it after the service has accepted it. */
  const choosePassword = async (whose: string, generate: boolean, config: Config | undefined) => {
    if (!generate) return { secret: await readPassword(whose), show: () => {} }
    // Another service does not show its rules.
    const { password_min_length: minLength, password_max_length: maxBytes } = config ?? loadConfig({})
    const secret = createPasswordRules({ minLength, maxBytes, requiredKinds: characterKindNames }).generate()
    return { secret, show: () => console.log(`${whose.replace('the', 'The')}: ${secret}`) }
  }

  register(
    users.command('list').description('List the users').option('--json', 'as JSON'),
    async ({ client }, { options }) => {
      const all = await client.api.users.list()
      if (options['json']) console.log(formatJson(all))
      else console.log(formatTable([['USER', 'E-MAIL', 'NAME', 'ROLES', ''], ...all.map(toRow)]))
    },
  )
  register<AddOptions>(
    addGrantOptions(users.command('add').description('Add a user; a prompt or standard input gives the password'))
      .argument('<user>', 'user name')
      .option('--email <address>', 'e-mail address; without it, a terminal asks for the address')
      .hook('preAction', async add => {
        if (add.opts()['email'] !== undefined) return
        if (!process.stdin.isTTY) add.error("error: required option '--email <address>' not specified")
        add.setOptionValue('email', await readEmail(`the e-mail address of ${add.args[0]}`))
      })
      .option('--name <name>', 'full name; default: the user name')
      .option('--super-user', 'give the user every right')
      .option('--generate', 'generate a password and print it')
      .option('--no-password', 'add the user without a password; the user can only use API keys that others create'),
    async ({ client, config }, { args: [username = ''], options }) => {
      // Commander reads the options that are declared above.
      const { email, name, superUser, generate, role, claim } = options
      const chosen = options.password
        ? await choosePassword(`the password of ${username}`, Boolean(generate), config)
        : undefined
      const user = await client.api.users.create({
        body: {
          username,
          email,
          name: name ?? username,
          ...(chosen && { password: chosen.secret }),
          ...(superUser && { is_super_user: true }),
          ...(role.length > 0 && { roles: role }),
          ...(claim.length > 0 && { claims: claim }),
        },
      })
      chosen?.show()
      console.log(`Added ${user.username} with ${user.roles.join(', ') || 'no role'}.`)
    },
  )
  const forEachGrant = async (
    { role, claim }: GrantOptions,
    each: (kind: 'roles' | 'claims', name: string) => Promise<void>,
  ): Promise<void> => {
    const all = [...role.map(name => ['roles', name] as const), ...claim.map(name => ['claims', name] as const)]
    const failures: unknown[] = []
    // If one is refused, the others are still done.
    for (const [kind, name] of all) await each(kind, name).catch((error: unknown) => failures.push(error))
    if (failures.length === 1) throw failures[0]
    if (failures.length > 1) throw new ServiceError('conflict', failures.map(messageOf).join('\n'))
  }
  register<GrantOptions>(
    requireGrant(users.command('grant').description('Grant roles and claims to a user')).argument('<user>'),
    async ({ client }, { args: [user = ''], options }) =>
      forEachGrant(options, async (kind, name) => {
        const { giveRole, giveClaim } = client.api.users
        await (kind === 'roles' ? giveRole : giveClaim)({ params: { id: user }, body: { name } })
        console.log(`${user} has ${name}.`)
      }),
  )
  register<GrantOptions>(
    requireGrant(users.command('revoke').description('Revoke roles and claims of a user')).argument('<user>'),
    async ({ client }, { args: [user = ''], options }) =>
      forEachGrant(options, async (kind, name) => {
        const { takeRole, takeClaim } = client.api.users
        await (kind === 'roles'
          ? takeRole({ params: { id: user, role: name } })
          : takeClaim({ params: { id: user, claim: name } }))
        console.log(`${user} does not have ${name} any more.`)
      }),
  )
  register(
    users
      .command('set-password')
      .description('Set a new password of a user; a prompt or standard input gives it')
      .argument('<user>')
      .option('--generate', 'generate a password and print it'),
    async ({ client, config }, { args: [user = ''], options }) => {
      const { secret, show } = await choosePassword(`the new password of ${user}`, options['generate'] === true, config)
      await client.api.users.update({ params: { id: user }, body: { password: secret } })
      show()
      console.log(`${user} has a new password; every token of theirs has ended.`)
    },
  )
  register(
    users.command('unlock').description('Let a user sign in again after too many wrong passwords').argument('<user>'),
    async ({ client }, { args: [user = ''] }) => {
      await client.api.users.unlock({ params: { id: user } })
      console.log(`${user} can sign in again, except from addresses that are locked.`)
    },
  )
  register(
    users.command('remove').description('Delete a user with their API keys and settings').argument('<user>'),
    async ({ client }, { args: [user = ''] }) => {
      await client.api.users.delete({ params: { id: user } })
      console.log(`Removed ${user}.`)
    },
  )
  return createGroupCommand(group, context, users)
}
