import { Command } from 'commander'

/** `vmhost logout` */
export const createLogoutCommand = (): Command =>
  new Command('logout')
    .argument('[context]', 'name of the context; default: the current one')
    .action(async (name: string | undefined) => {
      const { getContext, readContexts, removeContext } = await import('../connect/contexts.ts')
      const { UsageError } = await import('../usage-error.ts')
      const left = name ?? readContexts().current
      if (left === undefined) throw new UsageError('Nobody has signed in; `vmhost context list` shows the contexts.')
      const context = getContext(left)
      const { openContext } = await import('../connect/service.ts')
      // The token ends at the service too, unless it has ended already or nothing answers.
      if (context.token !== undefined)
        await openContext(context)
          .client.api.auth.signOut()
          .catch(() => {})
      await removeContext(left)
      console.log(`Signed out of ${context.url}.`)
    })
