# An MCP tool server to try the gateway with: the everything server, over HTTP.
FROM node:24-bookworm-slim
WORKDIR /srv
RUN npm install --ignore-scripts --no-audit --no-fund \
        @modelcontextprotocol/server-everything@2026.8.31 \
    && npm cache clean --force
USER node
ENV PORT=3001
EXPOSE 3001
CMD ["node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "streamableHttp"]
