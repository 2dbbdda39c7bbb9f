# The gateway with a server over stdio and its runtime, as a template for your own. After the image of
# the gateway is built: docker build -f docker/stdio.Dockerfile -t writ-stdio docker
FROM node:24-bookworm-slim AS server
WORKDIR /srv
RUN npm install --ignore-scripts --no-audit --no-fund \
        @modelcontextprotocol/server-filesystem@2026.8.31 \
    && npm cache clean --force

# Debian 12 as well, so it has the libraries of node
FROM writ
COPY --from=server /usr/local/bin/node /usr/local/bin/node
COPY --from=server /srv /srv
