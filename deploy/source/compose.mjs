// .env.example: the settings of docker-compose.yml.

const HEAD = `# Settings for docker-compose.yml: copy this file to .env, remove the # of a line and set its value. No line is required:
# \`docker compose up\` creates the secrets.

# Settings of docker-compose.yml alone, used at the first start:
# password of the PostgreSQL that it brings, letters and digits
#POSTGRES_PASSWORD=
# name of the first organization
#ORGANIZATION=My organization

# Settings of the service. docker-compose.yml sets HOST, PORT, METRICS_PORT, REDIS_URL and the two files.
`

/**
 * Every setting of the service as a comment with its default, under its meaning.
 * @param {{ name: string, fallback: string, meaning: string }[]} table the configuration table of the service
 */
export const exampleFile = (table) =>
  HEAD + table.map(({ name, fallback, meaning }) => `# ${meaning}\n#${name}=${fallback}\n`).join('')
