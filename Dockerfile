# RPMS with all that the quickstart needs. The default command plays the quickstart:
#   docker build -t rpms .
#   docker run --rm -v "$PWD/runs:/rpms/runs" rpms                  # tables on the screen, pages in runs/quickstart/report
#   docker run --rm -it rpms rpms play alfworld --split builtin     # or any other command
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home rpms && mkdir /rpms && chown rpms /rpms
USER rpms
WORKDIR /rpms
COPY --chown=rpms pyproject.toml constraints.txt README.md LICENSE Makefile ./
COPY --chown=rpms src src
COPY --chown=rpms docs docs
COPY --chown=rpms examples examples
COPY --chown=rpms studies studies
RUN make base
ENV PATH="/rpms/.venv/bin:$PATH"
CMD ["make", "quickstart"]
