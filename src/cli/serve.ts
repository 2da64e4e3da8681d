import { Command } from 'commander'

/** `keystride serve`: the service in this process, as `npm start` runs it in a checkout. */
export const serveCommand = (env: NodeJS.ProcessEnv): Command =>
  new Command('serve')
    .description('run the service until SIGTERM or Ctrl-C')
    .addHelpText('after', '\nSettings are environment variables: "keystride config check" lists them.')
    .action(async () => {
      const { start } = await import('../main.js')
      await start(env)
    })
