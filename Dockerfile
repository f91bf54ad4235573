# Serves Causeway in a container. The build context is the folder that `npm run pack` writes:
#   npm run pack -- dist && docker build -f Dockerfile -t causeway dist
# docs/install.md describes how to run it.
FROM node:24-bookworm-slim
WORKDIR /app
COPY causeway-mcp-0.2.0.tgz ./
RUN npm install --ignore-scripts --no-audit --no-fund ./causeway-mcp-0.2.0.tgz
RUN mkdir -m 700 /data && chown node:node /data
USER node
ENV CAUSEWAY_DATA_DIR=/data
ENV CAUSEWAY_HOST=0.0.0.0
ENV CAUSEWAY_TOKEN_FILE=/run/causeway/tokens
VOLUME /data
EXPOSE 3100
CMD ["node", "node_modules/causeway-mcp/bin/causeway.js"]
