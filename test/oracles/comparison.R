# Oracle of src/stats/comparison.ts: t.test, p.adjust and qbinom of R.
# Run from the repository root: Rscript test/oracles/comparison.R   (writes test/oracles/comparison.json)
n<-function(x) paste0("[",paste(ifelse(is.na(x),"null",sprintf("%.17g",x)),collapse=","),"]")
set.seed(1)
t<-lapply(list(c(.1,.3,-.05,.2),round(rnorm(20,.01,.02),4),c(1,2),c(1e-3,1e-3+1e-9,1e-3-1e-9)),function(d){z<-t.test(d)
  # corrected resampled t with n_test/n_train = 1/4
  se<-sqrt(var(d)*(1/length(d)+.25)); tc<-mean(d)/se
  sprintf('{"differences":%s,"mean":%.17g,"se":%.17g,"t":%.17g,"p":%.17g,"corrected_se":%.17g,"corrected_t":%.17g,"corrected_p":%.17g}',n(d),mean(d),z$stderr,z$statistic,z$p.value,se,tc,2*pt(-abs(tc),length(d)-1))})
P<-list(c(.01,.04,.03,.005,.2),c(.01,.01,.02,.02,.02,.9,1,0),c(.04,NA,.001,.04,NA,.6,.03),c(.5),c(NA_real_,NA),round(runif(40)^3,3),c(1e-300,1e-10,.3),numeric(0))
a<-vapply(P,function(p) sprintf('{"p":%s,"holm":%s,"bh":%s}',n(p),n(p.adjust(p,"holm")),n(p.adjust(p,"BH"))),"")
g<-expand.grid(n=c(0,1,5,12,25,100,2000),p=c(0,.01,.05,.3,.5,.95,1),level=c(.9,.95,.999))
b<-sprintf("[%.17g,%.17g,%.17g,%d,%d]",g$n,g$p,g$level,as.integer(qbinom((1-g$level)/2,g$n,g$p)),as.integer(qbinom((1-g$level)/2,g$n,g$p,lower.tail=FALSE)))
writeLines(paste0('{"source":"R ',getRversion(),'",\n"t":[',paste(t,collapse=",\n"),'],\n"adjust":[',paste(a,collapse=",\n"),'],\n"binomial":[',paste(b,collapse=","),"]}"),"test/oracles/comparison.json")
