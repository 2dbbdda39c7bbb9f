// on-postgres.mjs - import it before gateway.mjs in a test whose ledgers are on PostgreSQL in every run.
process.env.WRIT_TEST_STORE = 'postgresql';
