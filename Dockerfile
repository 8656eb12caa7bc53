# The page in a container: docker build -t dataframe-qa . && docker run --rm -p 8501:8501 -v qa:/data dataframe-qa
FROM python:3.13-slim

# Chromium draws the chart pictures; leave it out (--build-arg CHROMIUM=) for a smaller image without PNG and SVG.
ARG CHROMIUM=chromium
RUN if [ -n "$CHROMIUM" ]; then apt-get update && apt-get install -y --no-install-recommends "$CHROMIUM" \
    && rm -rf /var/lib/apt/lists/*; fi

WORKDIR /app
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt "streamlit[auth]"
COPY .streamlit/config.toml .streamlit/
COPY sample_data sample_data
COPY pages pages
COPY qa qa
COPY app.py ./

RUN useradd --create-home --uid 1000 qa && mkdir /data && chown qa /data
USER qa
ENV QA_AUDIT=/data/audit.sqlite QA_CACHE=/data/cache TZ=UTC PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8501
HEALTHCHECK CMD python -c "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=3)"
CMD ["streamlit", "run", "app.py", "--server.address=0.0.0.0", "--server.headless=true"]
