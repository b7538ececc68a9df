import { Command } from 'commander'
import type { RoleRecord } from '#lib/auth/role-schemas.ts'
import { formatJson, formatTable } from '../admin/text-table.ts'
import { roles as group } from '#lib/commands/identity.ts'
import { createGroupCommand } from '../definitions/create-commands.ts'
import type { CommandContext } from './context.ts'
import { collectValues } from './invocation.ts'

const toRow = ({ name, claims, users, internal }: RoleRecord): readonly string[] => [
  name,
  `${claims.length} ${claims.length === 1 ? 'claim' : 'claims'}`,
  users.map(({ username }) => username).join(' '),
  internal ? 'part of the service' : '',
]

interface AddOptions {
  readonly claim: readonly string[]
  readonly description?: string
}

/** `vmhost roles …` */
export const createRolesCommand = (context: CommandContext): Command => {
  const register = context.createRegister('identity')
  const roles = new Command('roles')

  register(
    roles.command('list').description('List the roles').option('--json', 'as JSON'),
    async ({ client }, { options }) => {
      const all = await client.api.roles.list()
      if (options['json']) console.log(formatJson(all))
      else console.log(formatTable([['ROLE', 'GIVES', 'USERS', ''], ...all.map(toRow)]))
    },
  )
  register<AddOptions>(
    roles
      .command('add')
      .description('Add a role')
      .argument('<role>')
      .option('--claim <name>', 'claim; repeat the option for several', collectValues, [])
      .option('--description <text>', 'purpose of the role'),
    async ({ client }, { args: [name = ''], options }) => {
      const { description, claim: claims } = options
      const role = await client.api.roles.create({ body: { name, claims, description } })
      console.log(`Added ${role.name} with ${role.claims.map(claim => claim.name).join(', ') || 'no claims'}.`)
    },
  )
  register(
    roles.command('grant').description('Add claims to a role').argument('<role>').argument('<claims...>'),
    async ({ client }, { args: [role = '', ...claims] }) => {
      for (const name of claims) {
        await client.api.roles.addClaim({ params: { id: role }, body: { name } })
        console.log(`${role} has ${name}.`)
      }
    },
  )
  register(
    roles.command('revoke').description('Remove claims from a role').argument('<role>').argument('<claims...>'),
    async ({ client }, { args: [role = '', ...claims] }) => {
      for (const name of claims) {
        await client.api.roles.removeClaim({ params: { id: role, claim: name } })
        console.log(`${role} does not have ${name} any more.`)
      }
    },
  )
  register(
    roles.command('remove').description('Delete a role that no user has').argument('<role>'),
    async ({ client }, { args: [role = ''] }) => {
      await client.api.roles.delete({ params: { id: role } })
      console.log(`Removed ${role}.`)
    },
  )
  return createGroupCommand(group, context, roles)
}
