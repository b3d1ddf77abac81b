import type { CliCommand } from '../command.ts'
import type { McpOptions } from '../mcp/serve.ts'
import { SERVER_PACKAGE } from '../server-package.ts'

/** `spanscore mcp`: lets a coding agent ask for the scores of a page, of files or of a backend. */
export const mcpCommand: CliCommand = {
  name: 'mcp',
  declare: (command, context) => {
    command
      .summary('let a coding agent ask for scores (Model Context Protocol)')
      .description(
        'Serves tools over standard input and output, which coding agents start: which agent got worse, since when, why, the ' +
          `worst runs, and whether a new version is worse. They read the page of a service, or (with ${SERVER_PACKAGE}) files or a ` +
          'backend, which are read once. Nothing is changed, stored or sent elsewhere, and no model is asked.',
      )
      .argument('[files...]', 'files with traces, logs and scores, in the formats that spanscore inspect reads')
      .option(
        '--page <url>',
        'ask the page of a service, such as http://127.0.0.1:4320; its token is in $SPANSCORE_PAGE_TOKEN',
      )
      .option(
        '--token-file <file>',
        'with --page: the file with its token, page-token in the data folder of the service',
      )
      .option('--from <backend>', 'read the stored traces of jaeger://host:port or tempo://host:port (+https for TLS)')
      .option('--from-ca <file>', 'certificate authority of that backend, PEM')
      .option('--from-cert <file>', 'certificate of this client for that backend, PEM')
      .option('--from-key <file>', 'its key, PEM')
      .option('--since <time>', 'with --from: how far back, as 30m, 24h, 7d or a date', '24h')
      .option(
        '--query <query>',
        "with --from: which traces, as TraceQL, or as parameters of Jaeger's API such as service_name=support",
      )
      .option('--no-content', 'leave out all texts of users, models, tools and judges')
      .action(async (files: readonly string[], options: McpOptions) => {
        // Loaded lazily, because no other command needs the protocol.
        const { serveMcp } = await import('../mcp/serve.ts')
        await serveMcp(files, options, context)
      })
  },
}
